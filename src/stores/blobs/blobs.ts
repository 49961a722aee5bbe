export interface BlobInfo {
  readonly size: number
  readonly contentType: string
}

/** A part of a blob: `length` bytes from the byte `from` on. It must lie within the blob. */
export interface BlobRange {
  readonly from: number
  readonly length: number
}

/** `size` is that of the whole blob, also where only a part was asked for. */
export interface Blob extends BlobInfo {
  readonly body: ReadableStream<Uint8Array>
}

/** Large immutable objects. Keys are `/`-separated names of letters, digits, `.`, `_` and `-`; no segment is empty, `.` or
 *  `..`. */
export interface Blobs {
  /** Stores a blob. Readers see it only when it is complete; a failed put leaves the former blob. */
  put(key: string, body: ReadableStream<Uint8Array> | Uint8Array, contentType: string): Promise<BlobInfo>
  get(key: string, range?: BlobRange): Promise<Blob | undefined>
  /** Removing what is absent is not an error. */
  remove(key: string): Promise<void>
  /** Whether they may be used now. Left out: always. */
  readonly isUsable?: (() => boolean) | undefined
}
