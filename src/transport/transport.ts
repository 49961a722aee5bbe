export interface UpstreamRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
}

export interface UpstreamResponse {
  readonly status: number
  /** Lower-case names; a repeated header is joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  /** Cancelling it ends the upstream call. */
  readonly body: ReadableStream<Uint8Array>
}

/** Sends one request to an upstream and resolves with its head. Redirects are never followed, bodies never decoded
 *  twice, aborting the signal ends the connection at once. Knows nothing of providers. */
export interface Transport {
  send(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamResponse>
}

/** The upstream could not be reached or went away. `timeout` when the transport itself gave up waiting. */
export class TransportError extends Error {
  override readonly name = 'TransportError'
}
