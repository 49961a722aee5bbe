/** The part of node:crypto that the core uses on both runtimes. It sees no other Node types. */
declare module 'node:crypto' {
  interface Hmac {
    update(data: string): Hmac
    digest(encoding: 'hex'): string
  }
  interface Hash {
    update(data: Uint8Array): Hash
    digest(encoding: 'hex'): string
  }
  export function createHash(algorithm: 'sha256'): Hash
  export function createHmac(algorithm: 'sha256', key: string): Hmac
  export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean
  export function scrypt(
    password: string,
    salt: Uint8Array,
    keyBytes: number,
    options: {
      readonly cost: number
      readonly blockSize: number
      readonly parallelization: number
      readonly maxmem: number
    },
    callback: (error: Error | null, key: Uint8Array) => void,
  ): void
  export function hash(algorithm: 'sha256', data: string | Uint8Array): string
  export function hash(algorithm: 'md5', data: Uint8Array, encoding: 'base64'): string
}
