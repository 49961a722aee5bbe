import type { GatewayError } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import type { ModelRequest } from '../modes/mode.ts'
import type { Usage } from '../modes/usage.ts'
import type { Deployment, Group } from '../routing/deployment.ts'
import type { Reservation } from '../stores/kv/deployment-signals.ts'

import type { Recording } from '../telemetry/content/recording.ts'
import type { ToolCallFinished } from '../telemetry/events.ts'
import type { Hold, SpentBefore } from './admit/hold.ts'
import type { CallCache } from './cache/cache-use.ts'
import type { CallInput } from './call-input.ts'
import type { CallMemory } from './memory/call-memory.ts'
import type { Bounds, Plan } from './plan/plan.ts'

/** A place at a deployment that the shared store reserved for an attempt. */
export interface Reserved extends Reservation {
  readonly attemptId: string
  /** The call has failed at that deployment before. */
  readonly retry: boolean
}

/** One try at one deployment. */
export interface Attempt {
  readonly id: string
  readonly deployment: Deployment
  /** The plan of the group that the attempt belongs to. */
  readonly plan: Plan
  readonly reserved: Reserved
  readonly startedAt: number
  /** The turn of a call with managed tools that it belongs to; 1 in every other call. */
  readonly turn: number
  /** The request was sent upstream. Before that the deployment counts as unused. */
  asked: boolean
  firstTokenAt: number | undefined
  endedAt: number | undefined
  failure: GatewayError | undefined
  /** The status of the upstream's answer, and its own words where it refused. */
  upstreamStatus: number | undefined
  upstreamWords: string
  /** Its whole answer did not say why it ended, so the cache must not repeat it. */
  unfinished: boolean
  /** What the attempt used before another one continued its answer or won the hedge. */
  usage: Usage | undefined
  /** The other attempt of a hedge committed first: this one was aborted, and its outcome does not count for or against
   *  the deployment. */
  lostHedge: boolean
  /** The store has been told the outcome. */
  settled: boolean
  /** The hints of the request that were left out for its provider. */
  dropped: Set<string> | undefined
}

/** A running model call. Readonly fields are decided at admission; the others are filled in as the call proceeds. */
export interface Call extends CallInput {
  readonly id: string
  /** For a form that is still arriving, its known fields; with managed tools, the request of the present turn. */
  request: ModelRequest
  bytes: Uint8Array
  /** The request for one deployment, if deployments get different ones. */
  writtenFor: ((deployment: Deployment) => Pick<Call, 'request' | 'bytes'>) | undefined
  /** The present turn of a call with managed tools; 1 in every other call. */
  turn: number
  /** The calls of managed tools that have ended; undefined if there were none. */
  toolCalls: readonly ToolCallFinished[] | undefined
  readonly group: Group
  streamed: boolean
  /** `performance.now()` at which the whole call has taken too long. */
  readonly deadline: number
  /** Restrictions to some of the deployments that could take the call. */
  readonly bounds: Bounds
  /** The prompt that was rendered into the request: `key@version`; '' if there was none. */
  readonly prompt: string
  /** Objects that providers created for the call, by id. */
  made: Map<string, { readonly deployment: string; readonly ttlSeconds: number }> | undefined
  /** How the call uses the gateway's memory of answers; undefined where the dialect has none. */
  readonly memory: CallMemory | undefined
  /** How the call uses the cache; undefined if it does not. */
  cache: CallCache | undefined
  /** The group that was asked last: the call's own or a fallback. */
  servedGroup: string
  /** The rate-limit headers of the response. */
  readonly rateHeaders: Readonly<Record<string, string>>
  /** The subjects whose concurrency slots the call holds. */
  readonly slots: readonly string[]
  /** The budget holds of the call; a dearer fallback adds to them. */
  readonly holds: Hold[]
  /** What its budgets had spent before it, if one of them has a soft limit. */
  readonly spentBefore: SpentBefore | undefined
  /** The plans tried so far: the group's own first, then its fallbacks'. */
  readonly plans: Plan[]
  readonly attempts: Attempt[]
  /** Deployments that were passed over, because their providers' APIs cannot express the request. */
  inexpressible?: Set<string>
  /** A hedge was started in this turn: a second deployment was asked because the first was late. */
  hedged: boolean
  /** Pending early settlements of ended attempts. */
  settling: Promise<void> | undefined
  /** Reserved places that no attempt used; they are released at settlement. */
  readonly unused: Reserved[]
  /** Time from arrival until the first upstream request was sent. */
  overheadMs: number | undefined
  /** Remembers the content, where it may be logged. */
  readonly recording: Recording | undefined
  usage: Usage | undefined
  outputCharacters: number
  malformedEvents: number
}

export function newAttemptId(): string {
  return newId('att')
}
