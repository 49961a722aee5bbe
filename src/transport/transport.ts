import type { Abort } from '../lib/abort.ts'
import type { Pieces } from '../lib/bytes/pieces.ts'
import type { Secret } from '../lib/secret.ts'

export interface UpstreamRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** `https://host:port` */
  readonly origin: string
  /** From the first `/`, with its query. */
  readonly path: string
  /** Credentials stay sealed until the transport sends them. */
  readonly headers: Readonly<Record<string, string | Secret>>
  readonly body?: RequestBody
  /** A body that is sent as it comes, in the place of `body`: asked for as the upstream takes it. Where it breaks off the
   *  upstream is left, and `send`, or the answer that had begun, rejects with what broke it off. */
  readonly upload?: Pieces
}

/** A long body may come in pieces, to be sent one after the other. */
export type RequestBody = Uint8Array | string | readonly Uint8Array[]

export interface UpstreamResponse {
  readonly status: number
  /** Lower-case names; a repeated header is joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: UpstreamBody
}

/** A body that is asked for, so that a slow client slows its upstream. One reader. */
export interface UpstreamBody {
  /** What has arrived since the last read, as one piece; undefined at the end. Rejects with TransportError when the
   *  connection ends before the body does. */
  read(): Promise<Uint8Array | undefined>
  /** Everything that is left. Rejects with BodyTooLarge beyond `limitBytes`, and then ends the call. `arrived` is told of
   *  bytes before they are kept; what it throws ends the call as well, and is what this rejects with. */
  bytes(limitBytes: number, arrived?: (bytes: number) => void): Promise<Uint8Array>
  /** Ends the upstream call. */
  cancel(): void
}

/** Sends one request to an upstream and resolves with its head. Redirects are never followed; aborting the signal ends
 *  the connection at once, whether the head has come or not. Knows nothing of providers, clocks or retries. */
export interface Transport {
  send(request: UpstreamRequest, signal: Abort): Promise<UpstreamResponse>
}

/** The upstream could not be reached, or went away. The message holds no header and no body. */
export class TransportError extends Error {
  override readonly name = 'TransportError'
}

export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge'
}
