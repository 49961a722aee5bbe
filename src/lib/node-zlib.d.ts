/** The part of node:zlib that the core uses on both runtimes. It sees no other Node types. */
declare module 'node:zlib' {
  type Compress = (bytes: Uint8Array, done: (error: Error | null, packed: Uint8Array<ArrayBuffer>) => void) => void
  /** Node has it from 22.15 on. */
  export const zstdCompress: Compress | undefined
}
