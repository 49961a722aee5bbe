import { createHash, timingSafeEqual } from 'node:crypto'

/** Equality that takes as long for a near miss as for a far one, whatever the lengths. */
export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest())
}
