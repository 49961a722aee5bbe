export interface Random {
  /** At least 0, less than 1. */
  next(): number
  /** From `least` to `most`, both included. */
  integer(least: number, most: number): number
  pick<T>(list: readonly T[]): T
  /** A new list in another order. */
  shuffle<T>(list: readonly T[]): T[]
  bytes(length: number): Uint8Array<ArrayBuffer>
  letters(length: number): string
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** The same seed gives the same numbers, on every machine (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed | 0
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    next,
    integer,
    pick<T>(list: readonly T[]): T {
      if (list.length === 0) throw new RangeError('nothing to pick from')
      return list[integer(0, list.length - 1)] as T
    },
    shuffle<T>(list: readonly T[]): T[] {
      const mixed = [...list]
      for (let last = mixed.length - 1; last > 0; last--) {
        const other = integer(0, last)
        const held = mixed[last] as T
        mixed[last] = mixed[other] as T
        mixed[other] = held
      }
      return mixed
    },
    bytes: (length) => Uint8Array.from({ length }, () => integer(0, 255)),
    letters: (length) => Array.from({ length }, () => LETTERS[integer(0, LETTERS.length - 1)]).join(''),
  }
}
