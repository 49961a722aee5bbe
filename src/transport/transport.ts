import type { Abort } from '../lib/abort.ts'
import type { Pieces } from '../lib/bytes/pieces.ts'
import type { Secret } from '../lib/secret.ts'

export interface UpstreamRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** `https://host:port` */
  readonly origin: string
  /** From the first `/`, with its query. */
  readonly path: string
  /** The call fails with PrivateAddress where the name of the host leads into a private network, if the runtime sees
   *  what it resolves to. */
  readonly publicOnly?: boolean
  /** Credentials stay sealed until the transport sends them. Once sent, a record does not change any more: requests that
   *  have it in common may be sent as the first one was. */
  readonly headers: Readonly<Record<string, string | Secret>>
  readonly body?: RequestBody
  /** A body that is sent while it arrives, instead of `body`: read as fast as the upstream accepts it. If reading
   *  fails, the upstream call ends, and `send`, or the body of the answer, rejects with the same error. */
  readonly upload?: Pieces
}

/** A long body may be a list of pieces, which are sent in order. */
export type RequestBody = Uint8Array | string | readonly Uint8Array[]

export interface UpstreamResponse {
  readonly status: number
  /** Lower-case names; a repeated header is joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: UpstreamBody
}

/** A body that is read on demand, so that a slow client slows down its upstream. It has one reader. */
export interface UpstreamBody {
  /** Resolves with all bytes since the last read as one piece; undefined at the end. Rejects with TransportError if the
   *  connection ends before the body. */
  read(): Promise<Uint8Array | undefined>
  /** Resolves with the rest of the body. Rejects with BodyTooLarge beyond `limitBytes`, and ends the call. Calls
   *  `arrived` before keeping bytes; an error of it ends the call too, and becomes the rejection. */
  bytes(limitBytes: number, arrived?: (bytes: number) => void): Promise<Uint8Array>
  /** Ends the upstream call. */
  cancel(): void
}

/** Sends one request to an upstream and resolves with the head of its response. It never follows redirects. Aborting
 *  the signal ends the connection at once, before or after the head. It has no timeouts and no retries. */
export interface Transport {
  send(request: UpstreamRequest, signal: Abort): Promise<UpstreamResponse>
}

/** The upstream could not be reached, or closed the connection. The message holds no header and no body. */
export class TransportError extends Error {
  override readonly name = 'TransportError'
}

/** The runtime sends no more requests for this call or event: the far end was not asked. */
export class RequestsSpent extends TransportError {}

/** A name leads into a private network, where the request must not go. */
export class PrivateAddress extends Error {
  override readonly name = 'PrivateAddress'
}

export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge'
}
