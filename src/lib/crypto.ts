import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** A test for one secret that takes as long for a near miss as for a far one, whatever the lengths. */
export function secretMatcher(secret: string): (given: string) => boolean {
  const expected = digest(secret)
  return (given) => timingSafeEqual(digest(given), expected)
}

/** How keys are kept: HMAC-SHA256 under the salt key, in hexadecimal digits. Finds a key, and is none. */
export function keyHasher(saltKey: string): (key: string) => string {
  return (key) => createHmac('sha256', saltKey).update(key).digest('hex')
}

function digest(text: string): Uint8Array {
  return createHash('sha256').update(text).digest()
}
