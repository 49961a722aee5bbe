import { createHash, createHmac, hash, scrypt as nodeScrypt, timingSafeEqual } from 'node:crypto'

/** A comparison with one secret, in a time that does not depend on where they differ. */
export function secretMatcher(secret: string): (given: string) => boolean {
  return (given) => {
    // The length of a key is not secret, and hashing both would slow down the calls of all other keys.
    if (given.length !== secret.length) return false
    let differences = 0
    for (let at = 0; at < secret.length; at++) differences |= given.charCodeAt(at) ^ secret.charCodeAt(at)
    return differences === 0
  }
}

/** Hashes keys for storage: HMAC-SHA256 under the salt key, in hexadecimal digits. */
export function keyHasher(saltKey: string): (key: string) => string {
  return (key) => createHmac('sha256', saltKey).update(key).digest('hex')
}

/** A digest under which memory refers to a secret text without containing it. It is cheaper than a keyed hash, and for
 *  a random text as hard to invert. */
export function digestOf(text: string | Uint8Array): string {
  return hash('sha256', text)
}

/** The MD5 of bytes in base64, as protocols want it beside what protects them; undefined where the system has none, as
 *  under FIPS. */
export function md5Base64(bytes: Uint8Array): string | undefined {
  try {
    return hash('md5', bytes, 'base64')
  } catch {
    return undefined
  }
}

/** SHA-256 of bytes that arrive in pieces. */
export interface RunningDigest {
  push(bytes: Uint8Array): void
  /** In hexadecimal digits. Ends the digest. */
  end(): string
}

export function runningDigest(): RunningDigest {
  const digest = createHash('sha256')
  return { push: (bytes) => void digest.update(bytes), end: () => digest.digest('hex') }
}

/** Whether two texts of bytes are the same, in a time that does not depend on where they differ. */
export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.byteLength === other.byteLength && timingSafeEqual(one, other)
}

/** What scrypt derives a key from, and at which cost. */
export interface ScryptInput {
  readonly password: string
  readonly salt: Uint8Array
  /** N, a power of two. */
  readonly cost: number
  readonly blockSize: number
  readonly parallelization: number
  readonly keyBytes: number
}

/** scrypt takes 128 · N · r bytes and a little more; Node refuses more than 32 MiB without a higher `maxmem`. */
export const SCRYPT_BYTES = 192 * 1024 * 1024

/** The key that scrypt derives: on Workers within the isolate, which does nothing else meanwhile. */
export function scrypt({ password, salt, keyBytes, cost, ...input }: ScryptInput): Promise<Uint8Array> {
  const { blockSize, parallelization } = input
  return new Promise((resolve, reject) => {
    nodeScrypt(password, salt, keyBytes, { cost, blockSize, parallelization, maxmem: SCRYPT_BYTES }, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
}
