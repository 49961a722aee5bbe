import { textBytes } from '../lib/bytes/text-bytes.ts'
import type { Footprint } from '../lib/footprints.ts'
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

/** What a form is taken to be at least, while it comes and its client has not said. */
const UNKNOWN_FORM_BYTES = 1_048_576

/** How much there is to read in the request: of a form, what its client announced, else what came. */
export function requestBytes({ bytes, form }: Pick<CallInput, 'bytes' | 'form'>): number {
  if (!form) return textBytes(bytes)
  const { length, ended, received } = form.raw
  return length ?? (ended ? received : Math.max(received, UNKNOWN_FORM_BYTES))
}
