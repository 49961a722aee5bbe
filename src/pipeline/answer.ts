/** An answer that may begin. Nothing but the transfer of `body` is left to do. */
export interface Answer {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: Uint8Array | ReadableStream<Uint8Array>
}
