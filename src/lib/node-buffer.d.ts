/** The part of node:buffer that both runtimes have and that we use; the core sees no other Node types. */
declare module 'node:buffer' {
  export function isUtf8(bytes: Uint8Array): boolean
  /** The same bytes, which on Node are searched ten times faster so. */
  export const Buffer: {
    from(
      bytes: ArrayBufferLike,
      byteOffset: number,
      length: number,
    ): Uint8Array & { toString(encoding: 'latin1'): string }
  }
}
