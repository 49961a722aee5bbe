import { textBytes } from '../lib/bytes/text-bytes.ts'
import type { GatewayError } from '../lib/errors.ts'
import type { Footprint } from '../lib/footprints.ts'
import { newId } from '../lib/ids.ts'
import type { Mode, ModelRequest } from '../modes/mode.ts'
import type { Usage } from '../modes/usage.ts'
import type { Deployment, Group } from '../routing/deployment.ts'
import type { Reservation } from '../stores/kv/deployment-signals.ts'
import type { Hold } from './admit/budget-holds.ts'
import type { Caller } from './caller.ts'
import type { Client } from './client.ts'
import type { IdPlaces } from './ids/named-ids.ts'
import type { Bounds, Plan } from './plan/plan.ts'
import type { IncomingForm } from './request/incoming-form.ts'
import type { Dialect } from './translate/dialect.ts'

/** What the calls of one path have in common. */
export interface Endpoint {
  readonly path: string
  readonly mode: Mode
  /** The way that its clients speak of chat; left out for other kinds of request. */
  readonly dialect?: Dialect
  /** Where its requests name what a provider has made; as its dialect says when left out. */
  readonly ids?: IdPlaces
  /** What it asks for costs nothing at any provider. */
  readonly free?: true
  /** Tells a client that its stream failed after it began. */
  readonly errorEvent: (failure: GatewayError) => Uint8Array
  /** Headers of the client that providers may see, in lower case; none when left out. */
  readonly clientHeaders?: readonly string[]
}

/** What the HTTP side hands over. */
export interface CallInput {
  readonly requestId: string
  /** `performance.now()` when the request arrived. */
  readonly arrivedAt: number
  readonly caller: Caller
  /** The client's own. */
  readonly address: string
  readonly client: Client
  /** The memory that it takes. */
  readonly footprint: Footprint
  readonly endpoint: Endpoint
  /** Empty where the request is a form. */
  readonly bytes: Uint8Array
  readonly form?: IncomingForm | undefined
  readonly contentType: string
  /** Those that the endpoint lets through. */
  readonly clientHeaders?: Readonly<Record<string, string>> | undefined
  /** How many gateways it has come through. */
  readonly hops: number
  /** Its answer says why each deployment was taken or left out. The caller may know. */
  readonly explain?: boolean | undefined
  /** Told when nothing can refuse the call any more: from then on the pipeline reports it. */
  begun(): void
}

/** An answer that may begin. Nothing but the transfer of `body` is left to do. */
export interface Answer {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: Uint8Array | ReadableStream<Uint8Array>
}

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
  outrun: boolean
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

/** What a form is taken to be at least, while it comes and its client has not said. */
const UNKNOWN_FORM_BYTES = 1_048_576

/** How much there is to read in the request: of a form, what its client announced, else what came. */
export function requestBytes({ bytes, form }: Pick<CallInput, 'bytes' | 'form'>): number {
  if (!form) return textBytes(bytes)
  const { length, ended, received } = form.raw
  return length ?? (ended ? received : Math.max(received, UNKNOWN_FORM_BYTES))
}
