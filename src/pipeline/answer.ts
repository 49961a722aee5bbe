/** An answer that may begin. All that remains is the transfer of `body`. */
export interface Answer {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: Uint8Array | ReadableStream<Uint8Array>
}
