import { digestOf } from '../../lib/crypto.ts'
import { lazily } from '../../lib/lazily.ts'
import { COMMON_PASSWORDS } from './common-passwords-data.ts'

/** The commonest passwords among those that are long enough to be chosen, as a Golomb-coded set: each is a number below
 *  `SPREAD` times their count, and their sorted differences are written as a quotient in unary and `REMAINDER_BITS` bits.
 *  Every one of them is found; another text is taken for one with a chance of 1 in `SPREAD`. */
const SPREAD = 12_000
export const REMAINDER_BITS = 13

/** Where a password stands in the set: 48 bits of its digest, scaled to the range. */
export function placeOf(password: string, count: number): number {
  const digest = Number.parseInt(digestOf(password).slice(0, 12), 16)
  return Math.floor((digest / 2 ** 48) * count * SPREAD)
}

const places = lazily(() => decoded(COMMON_PASSWORDS.count, COMMON_PASSWORDS.bits))

/** Of a password in lower case. */
export function isCommonPassword(password: string): boolean {
  return has(places(), placeOf(password, COMMON_PASSWORDS.count))
}

function decoded(count: number, base64: string): Uint32Array {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
  let at = 0
  const bit = () => {
    const value = ((bytes[at >> 3] as number) >> (7 - (at & 7))) & 1
    at += 1
    return value
  }
  const sorted = new Uint32Array(count)
  let place = 0
  for (let index = 0; index < count; index++) {
    let difference = 0
    while (bit() === 1) difference += 1
    for (let step = 0; step < REMAINDER_BITS; step++) difference = 2 * difference + bit()
    place += difference
    sorted[index] = place
  }
  return sorted
}

function has(sorted: Uint32Array, wanted: number): boolean {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] as number) < wanted) low = middle + 1
    else high = middle
  }
  return sorted[low] === wanted
}
