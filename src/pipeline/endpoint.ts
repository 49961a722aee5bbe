import type { GatewayError } from '../lib/errors.ts'
import type { Mode } from '../modes/mode.ts'
import type { IdPlaces } from './ids/named-ids.ts'
import type { BodyEdit } from './request/edited-body.ts'
import type { Dialect } from './translate/dialect.ts'

/** The properties shared by all calls of one path. */
export interface Endpoint {
  readonly path: string
  readonly mode: Mode
  /** The chat dialect of its clients; absent for other kinds of request. */
  readonly dialect?: Dialect
  /** Where its requests reference provider-created objects; defaults to the dialect's places. */
  readonly ids?: IdPlaces
  /** Its answers can be cached: each as a whole, or one for each of its inputs. */
  readonly cached?: 'whole' | 'inputs'
  /** Completes the body of each request. */
  readonly edit?: BodyEdit
  /** Every provider serves this request free of charge. */
  readonly free?: true
  /** Writes a whole answer of its mode as its clients read it. */
  readonly written?: (answer: Uint8Array) => Uint8Array
  /** Fields of its requests that only the adapters which know them send to their providers. */
  readonly hints?: readonly string[]
  /** Writes the event that reports a failure in a stream that has already begun. */
  readonly errorEvent: (failure: GatewayError) => Uint8Array
  /** Client headers forwarded to providers, in lower case; none by default. */
  readonly clientHeaders?: readonly string[]
}
