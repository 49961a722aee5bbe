import type { GatewayError } from '../lib/errors.ts'
import type { Mode } from '../modes/mode.ts'
import type { IdPlaces } from './ids/named-ids.ts'
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
