import type { BudgetSpent } from '../sql/records/budget-records.ts'
import type { Cached, CacheLookup, EndedLead } from './answer-cache.ts'
import type { Candidate, DeploymentOutcome, DeploymentSignals, Preference, Reservation } from './deployment-signals.ts'
import type { Key } from './keys.ts'
import type { StoredValue } from './stored-value.ts'

/** A record that a caller was built from, with its version when it was read. 0 means that the record does not exist. */
export interface RecordVersion {
  readonly record: string
  readonly version: number
}

/** A version that a process has cached. */
export interface HeldVersion extends RecordVersion {
  /** It was not read recently, so it is also stale if the store has lost the version of the record. */
  readonly remembered?: boolean
}

/** A change of records that callers are built from. */
export interface Change {
  /** Older versions of these records are stale from now on. Versions never decrease. */
  readonly records: readonly RecordVersion[]
  /** Keys whose values the store drops. */
  readonly removed: readonly Key[]
}

export type Window = 'minute' | 'hour' | 'day'

/** One limit of one scope, fixed for a caller. A call costs one request or its tokens, which are counted if the call is
 *  admitted; `used + cost > limit` refuses. */
export interface Quota {
  /** The name of its refusal, e.g. `team_tpm`. */
  readonly scope: string
  /** The owner of the counter, e.g. `team:red`. The counters of one subject are in one key. */
  readonly subject: string
  readonly unit: 'requests' | 'tokens'
  readonly window: Window
  readonly limit: number
}

/** The concurrency limit of one subject. A call holds a slot as a lease that expires. */
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
  /** The highest expected cost of this call, held until its settlement or the end of the lease. */
  readonly holdNano: number
  /** The likely cost; `holdNano` if left out. If nothing else is held, only this has to fit: a cautious hold does not
   *  block what is left of a budget. */
  readonly likelyNano?: number
  /** The amounts that the same call already holds. `likelyNano` includes them. */
  readonly ownNano?: readonly number[]
  /** The name of the period; spend of an earlier period does not count. `''` if the budget never resets. Periods of one
   *  subject sort as text, so a changed duration needs a new subject. A call of an earlier period than the store's is
   *  held against the store's period, unless that one has not begun by the store's clock. */
  readonly period: string
  /** When a period without end began, in ISO 8601. All such periods have the same name, so this tells a record from a
   *  removed one of the same id. */
  readonly since?: string | undefined
  /** The spend of this period in the database. Needed if the store does not know the subject, or if its clock is in
   *  another period. */
  readonly seedNano?: number | undefined
}

/** What decides whether a call may run, and where it goes. Calls share the lists of a caller, which never change. */
export interface Admission {
  readonly callId: string
  /** The id of the first attempt, which holds the lease of the reserved deployment. */
  readonly attemptId: string
  readonly versions: readonly HeldVersion[]
  /** When the store or the database last confirmed the versions, in milliseconds since 1970; absent means now. While
   *  the shared store is away, versions are stale that were confirmed too long ago. */
  readonly confirmedAt?: number | undefined
  readonly quotas: readonly Quota[]
  /** The cost of the call for quotas of tokens. */
  readonly tokens: number
  readonly slots: readonly Slot[]
  readonly budgets: readonly Budget[]
  /** The preferred one of the candidates that are neither cooled nor full is reserved; of equal ones the first. */
  readonly candidates: readonly Candidate[]
  /** How the store compares candidates by their current signals. Without it, their order decides. */
  readonly preference?: Preference | undefined
  /** How long slots, holds and leases live without renewal; the lease of a probe `PROBE_SECONDS` at most. */
  readonly leaseSeconds: number
  /** A look at cached answers, once nothing refuses the call. */
  readonly cache?: CacheLookup | undefined
}

/** The state of each quota, in the order of the admission. */
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
  /** The reservation of the first attempt; undefined if there were no candidates or none was free. */
  readonly reserved: Reservation | undefined
  /** The signals of each candidate before this call's reservation, in order. */
  readonly signals: readonly DeploymentSignals[]
  /** What the cache has, if the call looked there. */
  readonly cached?: Cached
  /** Decided without the shared store, so no versions were compared and no cache was looked at. */
  readonly unconfirmed?: true
}

/** Nothing was changed. */
export interface Refused {
  readonly kind: 'refused'
  readonly now: number
  readonly reason: 'quota' | 'slot' | 'budget'
  readonly scope: string
  /** The owner of the quota, slot or budget. */
  readonly subject: string
  /** When a retry may succeed, in milliseconds since 1970; undefined if that is unknown (slots, budgets). */
  readonly resetsAt: number | undefined
  /** What a budget that refuses has spent. */
  readonly spentNano?: number
  readonly quotas: QuotaStates
  readonly unconfirmed?: true
}

/** Nothing was changed. The caller has to read these from the database and ask again. */
export interface Stale {
  readonly kind: 'stale'
  /** Milliseconds since 1970, by the store's clock; absent if the shared store was not asked. */
  readonly now?: number
  /** Records with a newer version, and remembered ones whose version the store has lost. */
  readonly records: readonly string[]
  /** Subjects whose spend the store does not know. */
  readonly budgets: readonly string[]
  /** The records may still be current, but the shared store confirmed them too long ago. */
  readonly unconfirmed?: true
}

export type Decided = Admitted | Refused | Stale

/** A further attempt of an admitted call, which reserves its deployment unless that is cooled or full. */
export interface AttemptStart {
  readonly attemptId: string
  readonly candidate: Candidate
  /** No other deployment is left: a cooled one may be reserved as an early probe, once in an outage. */
  readonly early?: boolean
  /** A retry of the same call, which ignores the cooldown that its own failure may have caused. */
  readonly retry?: boolean
  readonly leaseSeconds: number
}

export interface Lease {
  readonly callId: string
  readonly attemptIds: readonly { readonly attemptId: string; readonly deployment: string }[]
  readonly slots: readonly string[]
  readonly budgets: readonly { readonly subject: string; readonly holdNano: number }[]
  readonly leaseSeconds: number
  /** The call's lead among identical calls. */
  readonly lead?: { readonly key: Key; readonly seconds: number } | undefined
}

/** What is recorded when a call ends. */
export interface Settlement {
  readonly callId: string
  /** What makes this settlement idempotent, instead of the call's id: set if the call may run again under that. */
  readonly id?: string | undefined
  /** How long ago the store missed it. A budget that was raised to the database's spend since then has this spend
   *  already. */
  readonly lateMs?: number | undefined
  /** Subjects whose slot this call held. */
  readonly slots: readonly string[]
  /** The hold to release and the actual spend, for each budget. A budget that was given while the call ran has a hold
   *  of 0. */
  readonly budgets: readonly {
    readonly subject: string
    readonly period: string
    /** As in its admission: it is no spend of another period without end. */
    readonly since?: string | undefined
    readonly holdNano: number
    readonly spentNano: number
  }[]
  /** One for each attempt that reserved a deployment. */
  readonly outcomes: readonly DeploymentOutcome[]
  /** Added to the shared counters of these names: metrics of runtimes whose isolates share no memory. */
  readonly counters: Readonly<Record<string, number>>
  /** Appended to the shared log of that name, which keeps its newest entries: fallback events. */
  readonly entries: readonly { readonly log: string; readonly text: string; readonly keep: number }[]
  /** The end of the call's lead, if it has it still. A repeated settlement ends it too. */
  readonly lead?: EndedLead | undefined
  /** Stored with it: the owners of objects that a provider created for the call, and its answer for the cache. */
  readonly values?: readonly StoredValue[]
}

/** A deployment that a settlement took out of rotation. A failure that only prolongs its cooldown is not reported. */
export interface Cooled {
  readonly deployment: string
  /** Milliseconds since 1970, by the store's clock. */
  readonly until: number
  /** Failures since its last success. */
  readonly failures: number
}

/** The limits of which `standing` tells how much is used. */
export interface Limits {
  readonly quotas: readonly Quota[]
  /** Subjects of slots. */
  readonly slots: readonly string[]
  /** Subjects of budgets. */
  readonly budgets: readonly string[]
}

/** How much of its limits is used. */
export interface Standing {
  /** Milliseconds since 1970, by the store's clock. */
  readonly now: number
  readonly quotas: QuotaStates
  /** The calls that hold a slot of each subject. */
  readonly taken: readonly number[]
  /** What the store knows of each budget; undefined if only the database does. */
  readonly budgets: readonly (BudgetStanding | undefined)[]
}

export interface BudgetStanding {
  /** The period that `spentNano` belongs to. */
  readonly period: string
  readonly spentNano: number
  /** For calls that run. */
  readonly heldNano: number
}

/** The shared store. Each method is atomic and one round trip, and uses the store's clock. A store inside the process
 *  answers `admit` and `settle` at once, without a promise. */
export interface SharedStore {
  /** Decides a call. A stale record, a quota, a slot or a budget refuses it, and then nothing has changed. If it is
   *  admitted, everything is counted, and the signals of the candidate deployments are returned. */
  admit(call: Admission): Promise<Decided> | Decided
  /** Reserves a deployment for a further attempt; undefined if it is cooled or full, and then nothing has changed. */
  startAttempt(start: AttemptStart): Promise<Reservation | undefined>
  /** Records the outcome of a call, once for each call id, or for each `id` if it has one. A later settlement releases
   *  what the call holds by then (its slots, holds and places at deployments), because a call that is repeated after a
   *  crash was admitted again; it spends, counts and learns nothing. The answer names the deployments that it
   *  cooled, if any: each cooldown is in the answer to one settlement. */
  settle(outcome: Settlement): Promise<readonly Cooled[] | undefined> | readonly Cooled[] | undefined
  /** Extends the leases of a long call. An expired lease stays expired. */
  renew(lease: Lease): Promise<void>
  /** Raises budgets to what the ledger says, if they have been below it for seconds: then the store missed settlements.
   *  Resolves with those that are below it and may still reach it by themselves. */
  raise(spent: readonly BudgetSpent[]): Promise<readonly BudgetSpent[]>
  /** Publishes a change as a whole. Resolves with true if it applies to every process from its next call on; with false if
   *  the shared store did not get it in time: then it applies to this process only until the store has it. */
  publish(change: Change): Promise<boolean>

  /** Stores the present time, in milliseconds since 1970. Rejects if other processes would not see it. */
  stamp(key: Key, ttlSeconds: number): Promise<void>

  signals(deployments: readonly string[]): Promise<DeploymentSignals[]>
  /** Counts nothing and changes nothing. */
  standing(of: Limits): Promise<Standing>
  /** undefined while the store is away: a process alone has counted less, and counters must not decrease. */
  counters(): Promise<Record<string, number> | undefined>
  /** Newest first. */
  entries(log: string, limit: number): Promise<string[]>

  get(key: Key): Promise<string | undefined>
  /** The values of several keys, in order; null if a value is unknown because the shared store is away. */
  getAll(keys: readonly Key[]): Promise<(string | undefined | null)[]>
  put(key: Key, value: string, ttlSeconds: number): Promise<void>
  /** Stores the value if the key has none; resolves with whether it did. */
  putNew(key: Key, value: string, ttlSeconds: number): Promise<boolean>
  /** Returns and removes a value in one step, for values that are used once. */
  take(key: Key): Promise<string | undefined>
  remove(...keys: Key[]): Promise<void>

  /** `shared` with other processes, `local` to this one, or `degraded` to this one while the shared store is away. */
  mode(): 'shared' | 'local' | 'degraded'
  /** Resolves when the store answers within `timeoutMs`; rejects otherwise. */
  ping(timeoutMs: number): Promise<void>
  close(): Promise<void>
}
