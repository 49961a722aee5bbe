import { digestOf } from '../../../lib/crypto.ts'
import type { Takes } from '../../provider.ts'

/** The id of a call as its vendor takes it: one that does not fit is replaced, equal ones by equal ones. */
export function fittingId(id: unknown, calls: Takes['calls']): unknown {
  if (typeof id !== 'string' || id === '' || !calls || calls.fits.test(id)) return id
  return digestOf(id).slice(0, calls.length)
}
