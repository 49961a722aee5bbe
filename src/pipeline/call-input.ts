import { textBytes } from '../lib/bytes/text-bytes.ts'
import type { Footprint } from '../lib/footprints.ts'
import type { TraceParent } from '../telemetry/events.ts'
import type { BatchMark } from './batch-mark.ts'
import type { Caller } from './caller.ts'
import type { Client } from './client.ts'
import type { Endpoint } from './endpoint.ts'
import type { IncomingForm } from './request/incoming-form.ts'

/** What the HTTP side hands over. */
export interface CallInput {
  readonly requestId: string
  /** `performance.now()` when the request arrived. */
  readonly arrivedAt: number
  readonly caller: Caller
  /** The client's address. */
  readonly address: string
  readonly client: Client
  /** Counts the memory that the call occupies. */
  readonly footprint: Footprint
  readonly endpoint: Endpoint
  /** Empty where the request is a form. */
  readonly bytes: Uint8Array
  readonly form?: IncomingForm | undefined
  /** The client's headers that the endpoint forwards. */
  readonly clientHeaders?: Readonly<Record<string, string>> | undefined
  /** The client's `Cache-Control`. */
  readonly cacheControl?: string | undefined
  /** The number of gateways that the call passed before this one. */
  readonly hops: number
  /** The answer explains why each deployment was chosen or left out. Set only for callers that may know. */
  readonly explain?: boolean | undefined
  /** Hints that the provider cannot be told are refused instead of left out. */
  readonly strict?: boolean | undefined
  /** The client asks to keep the content out of sinks. */
  readonly noLog?: boolean | undefined
  /** The client's span, of which the call is a part. */
  readonly traceparent?: TraceParent | undefined
  /** Set for an item of a batch. */
  readonly batch?: BatchMark | undefined
  /** Called once the call can no longer be refused: from then on the pipeline reports it. */
  begun(): void
}

/** The assumed size of a form that is still arriving and has no announced length. */
const UNKNOWN_FORM_BYTES = 1_048_576

/** The size of the request: for a form its announced length, else what has arrived. */
export function requestBytes({ bytes, form }: Pick<CallInput, 'bytes' | 'form'>): number {
  if (!form) return textBytes(bytes)
  const { length, ended, received } = form.raw
  return length ?? (ended ? received : Math.max(received, UNKNOWN_FORM_BYTES))
}
