import type { Classification } from '../lib/errors.ts'
import type { Usage } from '../modes/usage.ts'
import type { AuditEvent } from '../stores/sql/records/audit-records.ts'
import { CALL_FACTS } from '../stores/sql/spend/call-facts.ts'

/** The ending of a model call, as its client saw it. */
export const ENDINGS = CALL_FACTS.ending.values
export type Ending = (typeof ENDINGS)[number]

/** One upstream call of a model call. */
export interface AttemptFinished {
  readonly deployment: string
  readonly provider: string
  /** `outrun`: the other attempt of a hedge committed first. `cut`: it failed after its answer had begun. */
  readonly result: 'answered' | 'failed' | 'cut' | 'outrun' | 'client_closed'
  /** What kind of failure it was, '' when it was none. */
  readonly error: string
  /** Its usage, as far as known. For an attempt that lost a hedge it is an estimate, which is not part of the call's. */
  readonly usage: Usage | undefined
  /** As of the call. */
  readonly costNano: number | undefined
  readonly firstTokenMs: number | undefined
  readonly totalMs: number
}

/** Money of a subject in one of its periods, as `gateway_budget` and the shared store name it. */
export interface Charge {
  readonly subject: string
  readonly period: string
  /** What it pays, where that is only a part of what the call cost. */
  readonly costNano?: number | undefined
}

/** A finished model call. It contains no content and no credential. */
export interface CallFinished {
  readonly type: 'call.finished'
  readonly at: string
  readonly requestId: string
  readonly callId: string
  readonly endpoint: string
  readonly mode: string
  /** What the client asked for. */
  readonly requestedModel: string
  /** The group that served, which after a fallback is another one. */
  readonly model: string
  readonly deployment: string
  readonly provider: string
  readonly keyId: string
  readonly teamId: string
  readonly organizationId: string
  readonly userId: string
  /** `metadata.tags` of the request, as far as they can be kept. */
  readonly tags: readonly string[]
  readonly streamed: boolean
  readonly ending: Ending
  readonly status: number
  /** The wire's `type` of a failure, '' when there was none. */
  readonly errorType: string
  readonly usage: Usage | undefined
  /** Of every attempt that its answer is made of, each at the price of its deployment. 0 when nothing was used;
   *  undefined when something was whose price is unknown. */
  readonly costNano: number | undefined
  /** What an answer out of the cache would have cost. */
  readonly savedNano: number
  readonly cache: 'hit' | 'miss' | 'off'
  /** The accounts that the cost is added to. */
  readonly charges: readonly Charge[]
  readonly attempts: number
  /** Each of them, the one that ended the call last. */
  readonly tried: readonly AttemptFinished[]
  /** The deployments whose cut answer another one continued. */
  readonly rescuedFrom: readonly string[]
  readonly malformedEvents: number
  readonly overheadMs: number
  readonly firstTokenMs: number | undefined
  /** The attempt that served. */
  readonly upstreamMs: number | undefined
  readonly totalMs: number
}

/** A step of records on their way to the database: written, failed for now, kept on disk, added up for lack of space, or
 *  dropped. */
export interface RecordsMoved {
  readonly type: 'records.written' | 'records.failed' | 'records.kept' | 'records.folded' | 'records.dropped'
  readonly topic: string
  readonly records: number
  /** How long the oldest of them has waited. */
  readonly waitedMs: number
}

/** A request that did not become a model call: one of another endpoint, or a refused one. */
export interface RequestFinished {
  readonly type: 'request.finished'
  readonly at: string
  readonly requestId: string
  readonly method: string
  /** The route's path, not the client's; '' when none matched. */
  readonly route: string
  /** It asked for one. */
  readonly modelCall: boolean
  readonly keyId: string
  readonly teamId: string
  readonly status: number
  readonly errorType: string
  readonly totalMs: number
}

/** A budget has passed its soft limit. Emitted once a period. */
export interface SoftBudgetExceeded {
  readonly type: 'budget.soft_exceeded'
  readonly at: string
  /** e.g. `team_budget`. */
  readonly scope: string
  readonly subject: string
  readonly period: string
  readonly softNano: number
  readonly spentNano: number
}

/** An attempt failed and another one followed. */
export interface FallbackEvent {
  readonly timestamp: string
  readonly source_model: string
  readonly target_model: string
  readonly error_classification: Classification
  readonly success: boolean
}

/** A write of the administration, successful or not. */
export interface AuditRecorded {
  readonly type: 'audit.recorded'
  readonly at: string
  readonly event: AuditEvent
}

export type TelemetryEvent = CallFinished | RequestFinished | SoftBudgetExceeded | RecordsMoved | AuditRecorded
