import type * as z from 'zod'
import type { GatewayError } from '../../lib/errors.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { ChatChunk, ChatCompletion } from '../../modes/chat-completion.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import type { Capability } from '../../providers/provider.ts'
import type { DefaultFieldNames } from '../attempt/default-fields.ts'
import type { IdPlaces } from '../ids/named-ids.ts'

/** A way to speak of chat. Pure translation to and from the pivot, which is the public chat shape. */
export interface Dialect<Request extends ModelRequest = ModelRequest> {
  /** What a provider that speaks it natively has an adapter for. */
  readonly native: Capability | undefined
  readonly schema: () => z.ZodType<Request>
  /** Where its requests name what a provider has made. */
  readonly ids?: IdPlaces
  /** How defaults are said to a provider that speaks it natively; in chat's own words when left out. */
  readonly defaults?: DefaultFieldNames
  /** The same request as chat. Throws `invalid_request` naming the field that chat cannot express. */
  toChat(request: Request): ChatRequest
  /** The same answer, as a document of this dialect. */
  fromChat(completion: ChatCompletion, request: Request): object
  stream(request: Request): DialectStream
  /** For a stream that passes as its provider wrote it; undefined where nobody else could go on with it. */
  follow?(): DialectFollower
  /** What ends a stream that failed after it began. */
  errorEvent(failure: GatewayError): Uint8Array
}

/** Puts the chunks of one answer into events, in order. */
export interface DialectStream {
  write(chunk: ChatChunk): Uint8Array
  /** What properly ends the stream. */
  close(): Uint8Array
  /** What ends a stream that failed after it began, where that depends on what was said before. */
  fail?(failure: GatewayError): Uint8Array
}

/** Knows what was said in a stream of the dialect's own events, so that another can go on with it. */
export interface DialectFollower {
  /** What one event says, in chat. */
  read(event: Uint8Array): ChatChunk[]
  /** Puts what comes next into words, from where the events broke off. */
  continuation(): DialectStream
}

/** Knows its own request type only inside. */
export function asDialect<Request extends ModelRequest>(dialect: Dialect<Request>): Dialect {
  return dialect as unknown as Dialect
}
