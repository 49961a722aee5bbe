import { digestOf } from '../../lib/crypto.ts'

const WORDS = 4
const FIRST_CAPACITY = 4096

/** Remembers texts of any length in 32 bytes each, by 128 bits of their digests. */
export interface DistinctTexts {
  /** Whether the text is new. */
  add(text: string): boolean
}

export function distinctTexts(): DistinctTexts {
  let capacity = FIRST_CAPACITY
  let table = new Uint32Array(WORDS * capacity)
  let held = 0

  /** The place of a digest in the table: its own, or the free one where it belongs. A free place holds only zeros. */
  function placeOf(digest: Uint32Array): number {
    for (let index = (digest[0] as number) % capacity; ; index = (index + 1) % capacity) {
      const place = WORDS * index
      if (isAt(place, digest) || isAt(place, NONE)) return place
    }
  }
  function isAt(place: number, digest: Uint32Array): boolean {
    for (let word = 0; word < WORDS; word++) if (table[place + word] !== digest[word]) return false
    return true
  }
  function grow(): void {
    const former = table
    capacity *= 2
    table = new Uint32Array(WORDS * capacity)
    for (let place = 0; place < former.length; place += WORDS) {
      const digest = former.subarray(place, place + WORDS)
      if (digest.some((word) => word !== 0)) table.set(digest, placeOf(digest))
    }
  }

  const digest = new Uint32Array(WORDS)
  return {
    add(text) {
      const hex = digestOf(text)
      for (let word = 0; word < WORDS; word++) digest[word] = Number.parseInt(hex.slice(8 * word, 8 * word + 8), 16)
      const place = placeOf(digest)
      if (!isAt(place, NONE)) return false
      table.set(digest, place)
      held += 1
      if (2 * held > capacity) grow()
      return true
    },
  }
}

const NONE = new Uint32Array(WORDS)
