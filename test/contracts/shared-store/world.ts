import type { DeploymentOutcome } from '../../../src/stores/kv/deployment-signals.ts'
import type { Admission, Admitted, AttemptStart, Settlement, SharedStore } from '../../../src/stores/kv/shared-store.ts'
import { type TestClock, testClock } from '../../support/clock.ts'
import type { RawRedis } from '../../support/raw-redis.ts'

export interface StoreUnderTest {
  /** Stores opened with one prefix see the same things. Without `now` they go by their own clock. */
  open(options: { readonly prefix: string; readonly now?: () => number }): SharedStore
  /** What the store wrote, where it can be looked at. */
  readonly raw?: RawRedis
  /** Lives of the differential suite, and steps in each. */
  readonly lives: number
  readonly steps: number
}

export const EVENING = Date.UTC(2026, 1, 10, 20, 17, 23, 456)
export const MINUTE = 60_000

/** Stores in which nothing has happened yet. */
export interface World extends StoreUnderTest {
  /** A store of its own, a clock that stands, and more clients of the same store. */
  fresh(): { prefix: string; clock: TestClock; open: () => SharedStore; store: SharedStore }
  /** A store of its own that goes by its own clock. */
  freshWithOwnClock(): SharedStore
}

export function createWorld(subject: StoreUnderTest): World {
  const suite = Math.random().toString(36).slice(2, 10)
  let opened = 0
  function newPrefix(): string {
    opened += 1
    return `test:${suite}:${opened}:`
  }
  return {
    ...subject,
    fresh() {
      const prefix = newPrefix()
      const clock = testClock(EVENING)
      const open = () => subject.open({ prefix, now: clock.now })
      return { prefix, clock, open, store: open() }
    },
    freshWithOwnClock: () => subject.open({ prefix: newPrefix() }),
  }
}

let calls = 0
export function call(fields: Partial<Admission> = {}): Admission {
  calls += 1
  const empty = { versions: [], quotas: [], tokens: 1, slots: [], budgets: [], candidates: [], leaseSeconds: 30 }
  return { callId: `call-${calls}`, attemptId: `attempt-${calls}`, ...empty, ...fields }
}

export const settlement = (callId: string, fields: Partial<Settlement> = {}): Settlement => ({
  callId,
  slots: [],
  budgets: [],
  outcomes: [],
  counters: {},
  entries: [],
  ...fields,
})
export const ended = (admission: Admission, fields: Partial<DeploymentOutcome> = {}): Settlement => {
  const cooldown = { allowedFails: 0, seconds: 60 }
  const outcome = {
    attemptId: admission.attemptId,
    deployment: 'east',
    result: 'failed',
    used: {},
    cooldown,
  } as const
  return settlement(admission.callId, { outcomes: [{ ...outcome, ...fields }] })
}
export const requests = (limit: number) =>
  ({ scope: 'key_rpm', subject: 'key:1', unit: 'requests', window: 'minute', limit }) as const
export const tokens = (limit: number) => ({ ...requests(limit), scope: 'key_tpm', unit: 'tokens' }) as const
export const slot = (limit: number) => ({ scope: 'key_parallel_requests', subject: 'key:1', limit })
export const budget = (limitNano: number, holdNano: number, period = '2026-02', seedNano: number | 'unseeded' = 0) => ({
  scope: 'team_budget',
  subject: 'team:1',
  limitNano,
  holdNano,
  period,
  ...(seedNano === 'unseeded' ? {} : { seedNano }),
})
export const candidates = (...names: string[]) => names.map((deployment) => ({ deployment, limits: {} }))
export const only = candidates('east')

export async function admitted(store: SharedStore, admission: Admission): Promise<Admitted> {
  const answer = await store.admit(admission)
  if (answer.kind !== 'admitted') throw new Error(`expected admitted, was ${JSON.stringify(answer)}`)
  return answer
}
/** The deployment that an admission reserves. */
export const reserved = async (store: SharedStore, admission: Admission) =>
  (await admitted(store, admission)).reserved?.deployment
/** Whether a further attempt is given a place. */
export const started = async (store: SharedStore, start: AttemptStart) =>
  (await store.startAttempt(start)) !== undefined
export async function kinds(store: SharedStore, ...admissions: Admission[]): Promise<string[]> {
  const seen: string[] = []
  for (const admission of admissions) seen.push((await store.admit(admission)).kind)
  return seen
}
