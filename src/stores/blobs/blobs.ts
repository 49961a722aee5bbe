export interface BlobInfo {
  readonly size: number
  readonly contentType: string
}

export interface Blob extends BlobInfo {
  readonly body: ReadableStream<Uint8Array>
}

/** Large immutable objects: batch files, archived logs. Keys are `/`-separated names of letters, digits, `.`, `_` and
 *  `-`; no segment is empty, `.` or `..`. */
export interface Blobs {
  /** Visible to readers only when all of it has arrived; a failed put leaves what was there before. */
  put(key: string, body: ReadableStream<Uint8Array> | Uint8Array, contentType: string): Promise<BlobInfo>
  get(key: string): Promise<Blob | undefined>
  /** Removing what is absent is not an error. */
  remove(key: string): Promise<void>
}
