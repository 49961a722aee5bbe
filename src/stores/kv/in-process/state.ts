import type { Counted } from '../counted-series.ts'
import { LIFETIME_MS } from '../keys.ts'
import type { Quota } from '../shared-store.ts'
import { boundedTexts } from './bounded-texts.ts'
import type { CountedQuotas, Counters } from './counters.ts'
import type { DeploymentState } from './deployment-state.ts'
import { type ExpiringMap, expiringMap } from './expiring-map.ts'
import type { Leases } from './leases.ts'
import { type RecentIds, recentIds } from './recent-ids.ts'

export interface Counter {
  used: number
  ends: number
}

export interface BudgetRecord {
  spent: number
  period: string
  /** When that began, if it has no end. */
  since?: string | undefined
  /** When its spend was taken from the database. */
  readAt: number
  /** Since when it is known to be below the database's. */
  shortSince?: number | undefined
  /** It was removed while calls held some of it: only its holds are known. */
  isUnread?: boolean | undefined
  /** Of the calls that it pays for in this period. */
  holds: Leases
}

/** Texts that expire. */
export type Texts = Pick<ExpiringMap<string>, 'get' | 'set' | 'delete'>

/** The state of the in-process store, by subject. Entries of every map expire. */
export interface State {
  readonly versions: ExpiringMap<number>
  readonly quotas: ExpiringMap<Counters>
  /** By list. */
  readonly countedQuotas: {
    get(list: readonly Quota[]): CountedQuotas | undefined
    set(list: readonly Quota[], counted: CountedQuotas): void
  }
  readonly slots: ExpiringMap<Leases>
  readonly budgets: ExpiringMap<BudgetRecord>
  readonly deployments: ExpiringMap<DeploymentState>
  readonly settled: RecentIds
  readonly logs: ExpiringMap<string[]>
  readonly values: Texts
  readonly providerIds: Texts
  readonly answers: Texts
  readonly responses: Texts
  readonly meters: ExpiringMap<Counter>
  readonly leads: Texts
  readonly clearings: Texts
  /** Never expire; of each metric there are so many at most. */
  readonly counters: Counted
}

/** Values come from outside (sign-in state, answers); the other maps hold only what admitted calls named. */
const MOST_VALUES = 50_000
/** A call creates a few objects at its provider. */
const MOST_PROVIDER_IDS = 100_000
/** What cached answers may have together. */
const MOST_ANSWER_CHARACTERS = 32 * 1024 * 1024
/** What kept responses may have together. */
const MOST_RESPONSE_CHARACTERS = 32 * 1024 * 1024
/** A repeated settlement comes soon after the first. */
export const MOST_SETTLED = 100_000

export const createState = (now: () => number): State => ({
  versions: expiringMap(now),
  quotas: expiringMap(now),
  countedQuotas: new WeakMap(),
  slots: expiringMap(now),
  budgets: expiringMap(now),
  deployments: expiringMap(now),
  settled: recentIds(MOST_SETTLED, LIFETIME_MS.settled),
  logs: expiringMap(now),
  values: expiringMap(now, MOST_VALUES),
  providerIds: expiringMap(now, MOST_PROVIDER_IDS),
  answers: boundedTexts(now, MOST_ANSWER_CHARACTERS),
  responses: boundedTexts(now, MOST_RESPONSE_CHARACTERS),
  meters: expiringMap(now),
  leads: expiringMap(now),
  clearings: expiringMap(now),
  counters: new Map(),
})

export const leasesExpireAt = (now: number, end: number) => Math.max(end, now + LIFETIME_MS.leases)

export const deploymentExpiresAt = (deployment: DeploymentState, now: number) =>
  Math.max(deployment.cooledUntil, now + LIFETIME_MS.deployment)
