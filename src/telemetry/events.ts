import type { Classification } from '../lib/errors.ts'
import type { Usage } from '../modes/usage.ts'

/** How a model call ended, as its client saw it. */
export type Ending = 'answered' | 'failed' | 'truncated' | 'client_closed'

/** One upstream call of a model call. */
export interface AttemptFinished {
  readonly deployment: string
  readonly provider: string
  /** `outrun`: another, asked beside it, was first. `cut`: it failed after its answer had begun. */
  readonly result: 'answered' | 'failed' | 'cut' | 'outrun' | 'client_closed'
  /** What kind of failure it was, '' when it was none. */
  readonly error: string
  /** What it has used, as far as it is known. Of one that was outrun an estimate, which is no part of the call's. */
  readonly usage: Usage | undefined
  readonly firstTokenMs: number | undefined
  readonly totalMs: number
}

/** A model call is over and everything about it is known. Holds no content and no credential. */
export interface CallFinished {
  readonly type: 'call.finished'
  readonly at: string
  readonly requestId: string
  readonly callId: string
  readonly endpoint: string
  readonly mode: string
  /** The group that served; '' when the name meant none. */
  readonly model: string
  readonly deployment: string
  readonly provider: string
  readonly keyId: string
  readonly teamId: string
  readonly organizationId: string
  readonly userId: string
  readonly streamed: boolean
  readonly ending: Ending
  readonly status: number
  /** The wire's `type` of a failure, '' when there was none. */
  readonly errorType: string
  readonly usage: Usage | undefined
  /** undefined: a price is unknown. */
  readonly costNano: number | undefined
  /** Everything that the cost is charged to: budgets, and what only counts. */
  readonly charges: readonly { readonly subject: string; readonly period: string }[]
  /** The group that was asked last: `model`, or a fallback. */
  readonly servedModel: string
  readonly attempts: number
  /** Each of them, the one that ended the call last. */
  readonly tried: readonly AttemptFinished[]
  /** The deployments whose broken answer another one finished. */
  readonly rescuedFrom: readonly string[]
  readonly malformedEvents: number
  readonly overheadMs: number
  readonly firstTokenMs: number | undefined
  /** The attempt that served. */
  readonly upstreamMs: number | undefined
  readonly totalMs: number
}

/** A request that never became a model call: another endpoint's, or one that was refused. */
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

/** A budget has spent more than its soft limit. Told once a period. */
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

export type TelemetryEvent = CallFinished | RequestFinished
