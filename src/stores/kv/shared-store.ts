import type { Candidate, DeploymentOutcome, DeploymentSignals, Preference, Reservation } from './deployment-signals.ts'
import type { Key } from './keys.ts'

/** A record that the caller was built from, with the version it had when it was read from SQL. 0: "there is none". */
export interface RecordVersion {
  readonly record: string
  readonly version: number
}

/** A version that somebody goes by. */
export interface HeldVersion extends RecordVersion {
  /** It was read some time ago: a store that knows no version of the record, because it has lost what it knew, calls it
   *  stale, too. */
  readonly remembered?: boolean
}

/** What was changed of the records that callers are built from. */
export interface Change {
  /** Versions below these are stale from now on. A version never goes backwards. */
  readonly records: readonly RecordVersion[]
  /** What the store holds no more, and asks or is told anew. */
  readonly removed: readonly Key[]
}

export type Window = 'minute' | 'hour' | 'day'

/** One limit of one scope, fixed for a caller. A call costs one request, or its tokens: that is counted when everything
 *  passes; `used + cost > limit` refuses. */
export interface Quota {
  /** Spec name, e.g. `team_tpm`: what a refusal is called. */
  readonly scope: string
  /** Whose counter, e.g. `team:red`. Counters of one subject live in one key. */
  readonly subject: string
  readonly unit: 'requests' | 'tokens'
  readonly window: Window
  readonly limit: number
}

/** The parallel limit of one subject: a lease by call id that ends by itself. */
export interface Slot {
  readonly scope: string
  readonly subject: string
  readonly limit: number
}

/** Money is integer nano-dollars. */
export interface Budget {
  /** e.g. `team_budget`. */
  readonly scope: string
  readonly subject: string
  readonly limitNano: number
  /** Expected cost of this call, held until settled or until the lease ends. */
  readonly holdNano: number
  /** What it probably costs, where `holdNano` is more than that: while nothing else is held, only this has to fit, so
   *  that a careful hold does not pin what is left. `holdNano` when left out. */
  readonly likelyNano?: number
  /** Other amounts that the same call holds of it already, and goes on holding: `likelyNano` is what it costs with them,
   *  and they are nobody else's. */
  readonly ownNano?: readonly number[]
  /** Names the budget's period; spend of an earlier one does not count. `''` when it never resets. Periods of one
   *  subject sort as text, so a budget whose duration changes needs a new subject. A call that is late with an earlier
   *  period than the store's is held against the store's. */
  readonly period: string
  /** What SQL says was spent in this period. Needed once, when the store answers that it does not know the subject. */
  readonly seedNano?: number | undefined
}

/** Everything that decides whether a call may run, and where it may go. */
export interface Admission {
  readonly callId: string
  /** Names the first attempt; the lease on the reserved deployment carries it. */
  readonly attemptId: string
  readonly versions: readonly HeldVersion[]
  /** When the store or the database last confirmed the versions, in milliseconds since 1970; left out: just now. What
   *  stands in for a store that is away knows no versions, and calls those stale that nobody has confirmed for long. */
  readonly confirmedAt?: number | undefined
  readonly quotas: readonly Quota[]
  /** What the call costs of those that count tokens. */
  readonly tokens: number
  readonly slots: readonly Slot[]
  readonly budgets: readonly Budget[]
  /** Of those that are neither cooled nor full the one that is preferred is reserved, of equals the first. */
  readonly candidates: readonly Candidate[]
  /** By what the store knows at this moment. Left out: the order of the candidates alone. */
  readonly preference?: Preference | undefined
  /** How long slots, holds and in-flight marks live without being renewed. */
  readonly leaseSeconds: number
}

/** How far each quota is used, in the order asked. Numbers alone: what else there is to a quota, who asked knows. */
export interface QuotaStates {
  /** After this call was counted, or as it was when the call was refused. */
  readonly used: readonly number[]
  /** Milliseconds since 1970, by the store's clock. */
  readonly resetsAt: readonly number[]
}

export interface Admitted {
  readonly kind: 'admitted'
  /** Milliseconds since 1970, by the store's clock. */
  readonly now: number
  readonly quotas: QuotaStates
  /** What each budget had spent before this call, in the order asked. */
  readonly spentNano: readonly number[]
  /** What was taken for the first attempt; undefined when there were no candidates or none was free. */
  readonly reserved: Reservation | undefined
  /** One for each candidate, same order, as they were before this call's reservation. */
  readonly signals: readonly DeploymentSignals[]
  /** Decided by what stands in for the store, which could compare no versions. */
  readonly unconfirmed?: true
}

/** Nothing was changed. */
export interface Refused {
  readonly kind: 'refused'
  readonly now: number
  readonly reason: 'quota' | 'slot' | 'budget'
  readonly scope: string
  /** Whose quota, slot or budget it was. */
  readonly subject: string
  /** Milliseconds since 1970: when trying again may succeed; undefined where nobody can tell (slots, budgets). */
  readonly resetsAt: number | undefined
  readonly quotas: QuotaStates
  readonly unconfirmed?: true
}

/** Nothing was changed: read these again from SQL and ask once more. */
export interface Stale {
  readonly kind: 'stale'
  /** Records of which the store knows a newer version, or none where one is only remembered. */
  readonly records: readonly string[]
  /** Subjects whose spend the store does not know. */
  readonly budgets: readonly string[]
  /** The records may well be in force: nobody could be asked for long. */
  readonly unconfirmed?: true
}

/** The next attempt of an admitted call: takes the lease of its deployment, if that is not cooled or full. */
export interface AttemptStart {
  readonly attemptId: string
  readonly candidate: Candidate
  /** Nobody else is left to ask: a cooled one is taken too, as a probe before its time, once in an outage. */
  readonly early?: boolean
  /** The call has failed there before, and asks again: the cooldown which that brought is for other calls. */
  readonly retry?: boolean
  readonly leaseSeconds: number
}

export interface Lease {
  readonly callId: string
  readonly attemptIds: readonly { readonly attemptId: string; readonly deployment: string }[]
  readonly slots: readonly string[]
  readonly budgets: readonly { readonly subject: string; readonly holdNano: number }[]
  readonly leaseSeconds: number
}

/** What a call leaves behind. */
export interface Settlement {
  readonly callId: string
  /** Subjects whose slot this call held. */
  readonly slots: readonly string[]
  /** Releases the hold, adds what was really spent. */
  readonly budgets: readonly {
    readonly subject: string
    readonly period: string
    readonly holdNano: number
    readonly spentNano: number
  }[]
  /** One for each attempt that reserved a deployment. */
  readonly outcomes: readonly DeploymentOutcome[]
  /** Added to the shared counters of the same name: metrics, where isolates share no memory. */
  readonly counters: Readonly<Record<string, number>>
  /** Appended to the shared log of that name, which keeps its newest entries: fallback events. */
  readonly entries: readonly { readonly log: string; readonly text: string; readonly keep: number }[]
  /** Stored with it: whose the things are that a provider has made for the call. */
  readonly values?: readonly StoredValue[]
}

export interface StoredValue {
  readonly key: Key
  readonly text: string
  readonly ttlSeconds: number
}

/** The shared key-value store, in the gateway's own verbs. Each verb is atomic and one round trip; time is the store's. */
export interface SharedStore {
  /** Decides a call: a stale identity, any quota, the slot or any budget refuses it, and then nothing has changed.
   *  Admitted, everything is counted, and the signals of the candidate deployments come back with it. */
  admit(call: Admission): Promise<Admitted | Refused | Stale>
  /** Reserves a deployment for a further attempt. undefined when it is cooled or full; then nothing has changed. */
  startAttempt(start: AttemptStart): Promise<Reservation | undefined>
  /** Leaves everything a call learned. Idempotent by call id: twice is once. */
  settle(outcome: Settlement): Promise<void>
  /** Prolongs what a long call holds. What has already expired stays expired. */
  renew(lease: Lease): Promise<void>
  /** Makes a change known, all of it at once. True: every process goes by it from its next call on. False: the store that
   *  all share could not be told in time; this process goes by the change, and tells the store as soon as it can. */
  publish(change: Change): Promise<boolean>

  signals(deployments: readonly string[]): Promise<DeploymentSignals[]>
  counters(): Promise<Record<string, number>>
  /** Newest first. */
  entries(log: string, limit: number): Promise<string[]>

  get(key: Key): Promise<string | undefined>
  /** The same for several, in their order; null where nobody can tell, because the shared store is away. */
  getAll(keys: readonly Key[]): Promise<(string | undefined | null)[]>
  put(key: Key, value: string, ttlSeconds: number): Promise<void>
  /** Stores only where nothing is; says whether it did. */
  putNew(key: Key, value: string, ttlSeconds: number): Promise<boolean>
  /** Returns and removes in one step: login state, single-use things. */
  take(key: Key): Promise<string | undefined>
  remove(...keys: Key[]): Promise<void>

  /** Whether counts are shared with other processes, this process's own, or its own because the shared store is away. */
  mode(): 'shared' | 'local' | 'degraded'
  /** Resolves when the store answers within `timeoutMs`; rejects otherwise. */
  ping(timeoutMs: number): Promise<void>
  close(): Promise<void>
}

const TROUBLE = {
  unreachable: 'The shared store could not be reached.',
  timeout: 'The shared store did not answer in time.',
  nonsense: 'The shared store answered what no script of ours answers.',
  refused: 'The shared store refused the command',
} as const
export type StoreTrouble = keyof typeof TROUBLE

/** The store could not be asked, did not answer in time, answered nonsense, or said no. Never carries a command or a
 *  value; of a refusal only the store's own error word (`NOPERM`, `OOM`). */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
  readonly trouble: StoreTrouble

  constructor(trouble: StoreTrouble, word = 'ERR') {
    super(trouble === 'refused' ? `${TROUBLE.refused} (${word}).` : TROUBLE[trouble])
    this.trouble = trouble
  }
}
