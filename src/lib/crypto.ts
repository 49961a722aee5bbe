import { createHmac, hash, timingSafeEqual } from 'node:crypto'

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

/** What a text is called in memory that shall not hold the text itself. A fraction of the cost of a keyed hash, and for a
 *  random text as hard to turn around. */
export function digestOf(text: string | Uint8Array): string {
  return hash('sha256', text)
}
