import { createHmac, timingSafeEqual } from 'node:crypto'

/** A test for one secret that takes as long for a near miss as for a far one of its length. */
export function secretMatcher(secret: string): (given: string) => boolean {
  const encoder = new TextEncoder()
  const expected = encoder.encode(secret)
  return (given) => {
    // The length of a key is no secret, and hashing both would cost every call of every other key.
    if (given.length !== secret.length) return false
    const bytes = encoder.encode(given)
    return bytes.byteLength === expected.byteLength && timingSafeEqual(bytes, expected)
  }
}

/** How keys are kept: HMAC-SHA256 under the salt key, in hexadecimal digits. Finds a key, and is none. */
export function keyHasher(saltKey: string): (key: string) => string {
  return (key) => createHmac('sha256', saltKey).update(key).digest('hex')
}
