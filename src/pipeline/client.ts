import type { Abort } from '../lib/abort.ts'
import { GatewayError } from '../lib/errors.ts'
import type { Footprint } from '../lib/footprints.ts'
import type { Scratch, Source } from '../lib/forms/spool.ts'

/** The far end of a call, as the runtime shows it. Made by the runtime's folder, one for each request. */
export interface Client {
  /** Aborted when the client has left before its answer ended; with a GatewayError as its reason when it is us who end
   *  the call. */
  readonly signal: Abort
  /** The peer's address, '' where the runtime does not tell. */
  readonly address: string
  /** Keeps the runtime alive for work that outlives the answer. Handed over before the upstream is called, because a
   *  client that leaves ends everything that was not. */
  defer(work: Promise<unknown>): void
  /** The request's body, which is told to `footprint` as it comes. Rejects with `payload_too_large` as soon as the limit is
   *  passed, with `overloaded` where there is no room for it, and as `unsent` says where it does not go on. */
  body(limitBytes: number, footprint: Footprint): Promise<Uint8Array>
  /** The same as it comes, at the pace of who reads. Its reads reject as `body` does, and when the client has left. */
  upload(limitBytes: number): Upload
  /** Told once, when the answer has been taken or nobody is there to take it. */
  ended(listener: () => void): void
  /** Makes room for an upload outside of memory, where the runtime has any. */
  readonly scratch?: () => Promise<Scratch>
  /** An answer of `length` bytes, where that is known. One that its client takes nothing of for too long is broken off. */
  openStream(length?: number): ClientStream
  /** Gives the memory of an answer's bytes back when they have gone, where that is worth it. Nobody else reads them. */
  discard?(bytes: Uint8Array): void
}

export interface Upload extends Source {
  /** As the client announced it. */
  readonly length: number | undefined
}

/** An answer that is written piece by piece. */
export interface ClientStream {
  readonly readable: ReadableStream<Uint8Array>
  /** Resolves when the client can take more, which is at once where it is undefined; rejects, or never resolves, once it
   *  has left. */
  write(bytes: Uint8Array): Promise<void> | undefined
  close(): Promise<void>
  /** Breaks the answer off, where nothing can be said in it, so that it cannot be taken for a whole one. */
  abort(): void
}

/** Nobody is there any more. */
export function clientClosed(cause?: unknown): GatewayError {
  return new GatewayError('client_closed', 'The client closed the connection.', { cause })
}

/** Somebody is there, and reads nothing. */
export function untaken(): GatewayError {
  return new GatewayError('client_closed', 'The client did not take its answer in time.')
}

/** Somebody is there, and does not say the rest of the request. */
export function unsent(): GatewayError {
  const details = { status: 408, code: 'request_timeout' }
  return new GatewayError('invalid_request', 'The request body did not arrive in time.', details)
}

/** Why nobody waits for an answer any more. */
export function departure({ reason }: Abort): GatewayError {
  return reason instanceof GatewayError ? reason : clientClosed()
}
