/** The part of node:crypto that both runtimes have and that we use; the core sees no other Node types. */
declare module 'node:crypto' {
  interface Hash {
    update(data: string | Uint8Array): Hash
    digest(): Uint8Array
    digest(encoding: 'hex'): string
  }
  export function createHash(algorithm: 'sha256'): Hash
  export function createHmac(algorithm: 'sha256', key: string): Hash
  export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean
}
