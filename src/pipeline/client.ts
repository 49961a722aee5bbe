/** The far end of a call, as the runtime shows it. Made by the rim, one for each request. */
export interface Client {
  /** Aborted when the client has left before its answer ended. */
  readonly signal: AbortSignal
  /** The peer's address, '' where the runtime does not tell. */
  readonly address: string
  /** Keeps the runtime alive for work that outlives the answer. Handed over before the upstream is called, because a
   *  client that leaves ends everything that was not. */
  defer(work: Promise<unknown>): void
  /** The request's body. Throws `payload_too_large` as soon as the limit is passed. */
  body(limitBytes: number): Promise<Uint8Array>
  openStream(): ClientStream
}

/** An answer that is written piece by piece. */
export interface ClientStream {
  readonly readable: ReadableStream<Uint8Array>
  /** Resolves when the client can take more; rejects, or never resolves, once it has left. */
  write(bytes: Uint8Array): Promise<void>
  close(): Promise<void>
  /** Breaks the answer off, where nothing can be said in it, so that it cannot be taken for a whole one. */
  abort(): void
}
