import { createHash, timingSafeEqual } from 'node:crypto'

/** A test for one secret that takes as long for a near miss as for a far one, whatever the lengths. */
export function secretMatcher(secret: string): (given: string) => boolean {
  const expected = digest(secret)
  return (given) => timingSafeEqual(digest(given), expected)
}

function digest(text: string): Uint8Array {
  return createHash('sha256').update(text).digest()
}
