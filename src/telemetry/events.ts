import type { Usage } from '../modes/usage.ts'
import type { AuditEvent } from '../stores/sql/records/audit-records.ts'
import type { BudgetSpent } from '../stores/sql/records/budget-records.ts'
import { CALL_FACTS } from '../stores/sql/spend/call-facts.ts'
import type { Notice } from './notices.ts'

/** The ending of a model call, as its client saw it. */
export const ENDINGS = CALL_FACTS.ending.values
export type Ending = (typeof ENDINGS)[number]

/** One upstream call of a model call. */
export interface AttemptFinished {
  readonly deployment: string
  readonly provider: string
  /** The group that it belongs to: the call's own or a fallback. */
  readonly group: string
  /** `lost_hedge`: the other attempt of a hedge committed first. `cut`: it failed after its answer had begun. */
  readonly result: 'answered' | 'failed' | 'cut' | 'lost_hedge' | 'client_closed'
  /** The kind of failure; '' if there was none. */
  readonly error: string
  /** What the client was told of the failure, or would have been; undefined if there was none. Neither this nor
   *  `upstreamMessage` holds a credential or content of the request. */
  readonly message: string | undefined
  /** The status of the upstream's answer, if there was one. */
  readonly upstreamStatus: number | undefined
  /** The upstream's own words, if it refused, or why its connection failed. They may name the operator's account. */
  readonly upstreamMessage: string | undefined
  /** The turn of a call with managed tools that it belongs to; 1 in every other call. */
  readonly turn: number
  /** Its usage, as far as known. For an attempt that lost a hedge it is an estimate, which is not part of the
   *  call's. */
  readonly usage: Usage | undefined
  /** As in CallFinished. */
  readonly costNano: number | undefined
  /** When it began, counted from the arrival of the call. */
  readonly startedMs: number
  readonly firstTokenMs: number | undefined
  readonly totalMs: number
}

/** A call of a managed tool, by a model or by a client of the gateway's own MCP server. */
export interface ToolCalled {
  readonly type: 'tool.called'
  readonly at: string
  /** The call in the ledger that it is a part of, or is; '' if there is none. */
  readonly callId: string
  readonly requestId: string
  readonly server: string
  /** As the server names it; '' if the server has no such tool. */
  readonly tool: string
  /** `error`: the tool itself reported an error. `failed`: its server could not be asked, or there is no such tool. */
  readonly result: 'ok' | 'error' | 'timeout' | 'failed'
  readonly ms: number
  readonly keyId: string
  readonly teamId: string
}

/** A call of a managed tool, as a part of its model call. */
export interface ToolCallFinished extends Pick<ToolCalled, 'server' | 'tool' | 'result' | 'ms'> {
  /** When it began, counted from the arrival of the call. */
  readonly startedMs?: number
}

/** A hint of a model call that its provider was not told. */
export interface FieldDropped {
  readonly type: 'field.dropped'
  readonly endpoint: string
  readonly provider: string
  /** The client's name of the field. */
  readonly field: string
}

/** A span of W3C Trace Context: hexadecimal ids. */
export interface TraceParent {
  readonly traceId: string
  readonly spanId: string
  readonly sampled: boolean
}

/** Where a call belongs in the traces of its client: `metadata.trace_id`, `metadata.session_id`, and `user`, which is the
 *  client's own name for a person. */
export interface CallTrace {
  /** The client's span, from its `traceparent`. */
  readonly parent?: TraceParent | undefined
  readonly traceId: string | undefined
  readonly sessionId: string | undefined
  readonly user: string | undefined
}

/** The budget of a subject in one period that a call is charged to, by the names of `gateway_budget` and the shared
 *  store. */
export interface Charge {
  readonly subject: string
  readonly period: string
  /** When a period without end began, in ISO 8601. All of these have one name: also that of a record which is made under
   *  the id of a removed one. */
  readonly since?: string | undefined
  /** The charged part of the call's cost, if it is not the whole. */
  readonly costNano?: number | undefined
}

/** A finished model call. It contains no content and no credential. */
export interface CallFinished {
  readonly type: 'call.finished'
  readonly at: string
  readonly requestId: string
  readonly callId: string
  /** The batch that the call is an item of; '' if it is none's. */
  readonly batchId: string
  /** The prompt that was rendered into the call: `key@version`; '' if there was none. */
  readonly prompt: string
  /** The call failed at no cost and its batch tries the item again: the ledger has no row of it. */
  readonly repeats: boolean
  readonly endpoint: string
  readonly mode: string
  /** The model in the request. */
  readonly requestedModel: string
  /** The group that served, which differs from the requested one after a fallback. */
  readonly model: string
  readonly deployment: string
  readonly provider: string
  readonly keyId: string
  readonly teamId: string
  readonly organizationId: string
  readonly userId: string
  /** `metadata.tags` of the request, as far as they can be stored. */
  readonly tags: readonly string[]
  readonly trace: CallTrace | undefined
  readonly streamed: boolean
  readonly ending: Ending
  readonly status: number
  /** The `type` of the error that the client got; '' if there was none. */
  readonly errorType: string
  readonly usage: Usage | undefined
  /** The cost of all attempts that contributed to the answer, each at the price of its deployment; 0 if nothing was
   *  used, undefined if the price of something used is unknown. */
  readonly costNano: number | undefined
  /** The most that an account held for the call until it was settled; undefined if none did. */
  readonly heldNano?: number | undefined
  /** The cost that a cached answer saved. */
  readonly savedNano: number
  readonly cache: 'hit' | 'miss' | 'off'
  /** The budgets that the cost is charged to. */
  readonly charges: readonly Charge[]
  readonly attempts: number
  /** All attempts; the last one ended the call. */
  readonly tried: readonly AttemptFinished[]
  /** The calls of managed tools, as they ended. */
  readonly tools: readonly ToolCallFinished[]
  /** The deployments whose cut answer another one continued. */
  readonly rescuedFrom: readonly string[]
  readonly malformedEvents: number
  readonly overheadMs: number
  readonly firstTokenMs: number | undefined
  /** The duration of the attempt that served. */
  readonly upstreamMs: number | undefined
  readonly totalMs: number
}

/** A step of records on their way to the database: written, failed for now, kept on disk, added up for lack of space,
 *  refused and kept as dead letters, or dropped. */
export interface RecordsMoved {
  readonly type:
    | 'records.written'
    | 'records.failed'
    | 'records.kept'
    | 'records.folded'
    | 'records.dead'
    | 'records.dropped'
  readonly topic: string
  readonly records: number
  /** The wait of the oldest record. */
  readonly waitedMs: number
  /** What the budgets that they charged have spent, by the database. */
  readonly spent?: readonly BudgetSpent[] | undefined
}

/** A step of events on their way to a sink: taken by its far end, not taken for now, or dropped. */
export interface SinkMoved {
  readonly type: 'sink.delivered' | 'sink.failed' | 'sink.dropped'
  readonly sink: string
  readonly entries: number
}

/** A request that did not become a model call: one of another endpoint, or a refused one. */
export interface RequestFinished {
  readonly type: 'request.finished'
  readonly at: string
  readonly requestId: string
  readonly method: string
  /** The route's path, not the client's; '' when none matched. */
  readonly route: string
  /** The request was for a model call. */
  readonly modelCall: boolean
  readonly keyId: string
  readonly teamId: string
  readonly organizationId: string
  readonly userId: string
  readonly status: number
  readonly errorType: string
  /** The `code` of the error, or its kind; '' if there was none. */
  readonly code: string
  /** The limit or budget that refused it, such as `team_rpm`; '' if it was none. */
  readonly scope: string
  readonly totalMs: number
}

/** A write of the administration, successful or not. */
export interface AuditRecorded {
  readonly type: 'audit.recorded'
  readonly at: string
  readonly event: AuditEvent
}

/** Items of a batch were claimed. */
export interface BatchClaimed {
  readonly type: 'batch.claimed'
  /** How long the longest due of them had waited. */
  readonly waitedMs: number
}

/** A try of an item ended, and is recorded. `waiting`: the item is tried again. */
export interface BatchItemEnded {
  readonly type: 'batch.item_ended'
  readonly status: 'completed' | 'failed' | 'waiting'
  readonly seconds: number
}

/** A prompt template was rendered into a call, or could not be. */
export interface PromptResolved {
  readonly type: 'prompt.resolved'
  /** Its key; '' if there is no such prompt. */
  readonly prompt: string
  readonly status: 'ok' | 'not_found' | 'invalid_variables' | 'failed'
  readonly seconds: number
}

export type BatchMoved = BatchClaimed | BatchItemEnded

export type TelemetryEvent =
  | CallFinished
  | RequestFinished
  | Notice
  | RecordsMoved
  | SinkMoved
  | AuditRecorded
  | PromptResolved
  | BatchMoved
  | ToolCalled
  | FieldDropped
