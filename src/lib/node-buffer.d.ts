/** The part of node:buffer that both runtimes have and that we use; the core sees no other Node types. */
declare module 'node:buffer' {
  export function isUtf8(bytes: Uint8Array): boolean
}
