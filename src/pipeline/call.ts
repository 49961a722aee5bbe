import type { GatewayError } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import type { ModelRequest } from '../modes/mode.ts'
import type { Usage } from '../modes/usage.ts'
import type { Deployment, Group } from '../routing/deployment.ts'
import type { Reservation } from '../stores/kv/deployment-signals.ts'
import type { Hold } from './admit/hold.ts'
import type { CallInput } from './call-input.ts'
import type { Bounds, Plan } from './plan/plan.ts'

/** A place at a deployment that the shared store has reserved for an attempt. */
export interface Reserved extends Reservation {
  readonly attemptId: string
}

/** One try at one deployment. */
export interface Attempt {
  readonly id: string
  readonly deployment: Deployment
  /** That of the group which it was asked in. */
  readonly plan: Plan
  readonly reserved: Reserved
  readonly startedAt: number
  /** The upstream was asked: until then the deployment has not been used. */
  asked: boolean
  firstTokenAt: number | undefined
  endedAt: number | undefined
  failure: GatewayError | undefined
  /** What it had used when another went on with its answer, or answered before it. */
  usage: Usage | undefined
  /** Another, asked beside it, was first: it was ended, and says nothing about its deployment. */
  lostHedge: boolean
  /** The store knows already how it ended. */
  settled: boolean
}

/** A model call while it runs: what is decided stays, what is learned is filled in. */
export interface Call extends CallInput {
  readonly id: string
  /** Of a form that is still coming: as far as it is known. */
  request: ModelRequest
  readonly group: Group
  streamed: boolean
  /** `performance.now()` at which the whole call has taken too long. */
  readonly deadline: number
  /** What holds it to some of the deployments that could take it. */
  readonly bounds: Bounds
  /** What providers have made for it, by its id. */
  made: Map<string, { readonly deployment: string; readonly ttlSeconds: number }> | undefined
  /** The group whose deployments were asked last: the call's own, or a fallback. */
  servedGroup: string
  /** What the client is told about its limits. */
  readonly rateHeaders: Readonly<Record<string, string>>
  /** Subjects whose slot it holds. */
  readonly slots: readonly string[]
  /** Money that it holds; a dearer fallback adds to it. */
  readonly holds: Hold[]
  /** Those whose turn came: the group's own, then its fallbacks'. */
  readonly plans: Plan[]
  readonly attempts: Attempt[]
  /** A second deployment was asked beside a late one. */
  hedged: boolean
  /** What the store has been told of its attempts so far. */
  settling: Promise<void> | undefined
  /** Places that no attempt has taken: they are given back. */
  readonly unused: Reserved[]
  /** Time spent before the first upstream call was sent. */
  overheadMs: number | undefined
  usage: Usage | undefined
  outputCharacters: number
  malformedEvents: number
}

export function newAttemptId(): string {
  return newId('att')
}
