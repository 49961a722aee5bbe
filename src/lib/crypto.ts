import { createHmac, hash, timingSafeEqual } from 'node:crypto'

/** A constant-time comparison with one secret. */
export function secretMatcher(secret: string): (given: string) => boolean {
  const encoder = new TextEncoder()
  const expected = encoder.encode(secret)
  return (given) => {
    // The length of a key is not secret, and hashing both would slow down the calls of all other keys.
    if (given.length !== secret.length) return false
    const bytes = encoder.encode(given)
    return bytes.byteLength === expected.byteLength && timingSafeEqual(bytes, expected)
  }
}

/** Hashes keys for storage: HMAC-SHA256 under the salt key, in hexadecimal digits. */
export function keyHasher(saltKey: string): (key: string) => string {
  return (key) => createHmac('sha256', saltKey).update(key).digest('hex')
}

/** A digest under which memory refers to a secret text without containing it. It is cheaper than a keyed hash, and for a
 *  random text as hard to invert. */
export function digestOf(text: string | Uint8Array): string {
  return hash('sha256', text)
}
