import type { Abort } from '../lib/abort.ts'
import { GatewayError } from '../lib/errors.ts'
import type { Footprint } from '../lib/footprints.ts'
import type { Scratch, Source } from '../lib/forms/spool.ts'

/** The client's connection, as the runtime presents it. The runtime's folder makes one for each request. */
export interface Client {
  /** Aborts when the client disconnects before its answer ended. When the gateway itself ends the call, the reason is a
   *  GatewayError. */
  readonly signal: Abort
  /** The peer's address; '' if the runtime does not expose it. */
  readonly address: string
  /** Keeps the runtime alive for work that outlives the answer. Call it before the upstream is asked: a disconnecting
   *  client ends all work that was not deferred. */
  defer(work: Promise<unknown>): void
  /** Reads the request's body and counts it into `footprint`; returns it if it is here. Rejects with `payload_too_large` as
   *  soon as the limit is passed, with `overloaded` when there is no memory for it, and with `unsent` when it stalls. */
  body(limitBytes: number, footprint: Footprint): Promise<Uint8Array> | Uint8Array
  /** The request's body as a stream, read at the consumer's pace. Its reads reject as `body` does, and when the client
   *  has left. */
  upload(limitBytes: number): Upload
  /** Calls `listener` once, when the answer was delivered or the client is gone. */
  ended(listener: () => void): void
  /** Allocates space for an upload outside of memory, if the runtime has any. */
  readonly scratch?: () => Promise<Scratch>
  /** Opens an answer of `length` bytes, if that is known. It is aborted when the client reads nothing for too long. */
  openStream(length?: number): ClientStream
  /** Frees the memory of an answer's bytes after they were sent, if that pays. The caller must not read them again. */
  discard?(bytes: Uint8Array): void
}

export interface Upload extends Source {
  /** The length that the client announced. */
  readonly length: number | undefined
}

/** An answer that is written piece by piece. */
export interface ClientStream {
  readonly readable: ReadableStream<Uint8Array>
  /** Resolves when the client can accept more; undefined means at once. After the client left it rejects or never
   *  resolves. `owned`: no other code uses these bytes, so that their memory may be freed when they are sent. */
  write(bytes: Uint8Array, owned?: boolean): Promise<void> | undefined
  close(): Promise<void>
  /** Breaks the connection where no error can be written, so that the answer is not mistaken for a complete one. */
  abort(): void
}

/** The failure of a call whose client disconnected. */
export function clientClosed(cause?: unknown): GatewayError {
  return new GatewayError('client_closed', 'The client closed the connection.', { cause })
}

/** The failure of a call whose client is connected but does not read its answer. */
export function untaken(): GatewayError {
  return new GatewayError('client_closed', 'The client did not take its answer in time.')
}

/** The failure of a request whose client is connected but does not send the rest of the body. */
export function unsent(): GatewayError {
  const details = { status: 408, code: 'request_timeout' }
  return new GatewayError('invalid_request', 'The request body did not arrive in time.', details)
}

/** Why the client's signal aborted. */
export function departure({ reason }: Abort): GatewayError {
  return reason instanceof GatewayError ? reason : clientClosed()
}
