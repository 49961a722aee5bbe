/** A set of ids that forgets them after some time. */
export interface RecentIds {
  /** Adds an id; false if it is in the set already. */
  add(id: string, now: number): boolean
}

/** Ids of one period. */
interface Generation {
  readonly begunAt: number
  /** A hash table. Each place has a fingerprint, whose first number is 0 in a free place, and the time at which its id
   *  was added, in milliseconds after the beginning. */
  table: Int32Array
  size: number
}

/** Three numbers that stand for an id. */
interface Fingerprint {
  first: number
  second: number
  third: number
}

/** The numbers of a place. */
const WIDTH = 4
const FEWEST_PLACES = 1024
/** The clock may be set back by more than a number of a place can say. */
const EARLIEST_MS = -(2 ** 31)

/** Forgets an id after `lifetimeMs`, or sooner once `most / 2` newer ones were added. Ids are kept in two generations, of
 *  which the older is dropped as a whole. Of each only a fingerprint is kept: that two ids have the same one is less
 *  likely than that two calls have the same id, and texts that outlive their call would cost more than its settlement. */
export function recentIds(most: number, lifetimeMs: number): RecentIds {
  let young = generation(0, 0)
  let old = young
  const own: Fingerprint = { first: 0, second: 0, third: 0 }

  function knows({ begunAt, table }: Generation, now: number): boolean {
    const place = placeOf(table, own)
    return table[place] !== 0 && begunAt + (table[place + 3] as number) + lifetimeMs > now
  }

  return {
    add(id, now) {
      readFingerprint(id, own)
      if (knows(young, now) || knows(old, now)) return false
      if (young.size === 0 || young.size >= most / 2 || now - young.begunAt >= lifetimeMs) {
        old = young
        young = generation(now, old.size)
      }
      put(young, own, now)
      return true
    },
  }
}

/** An empty generation with places for as many ids as the one before had. */
function generation(begunAt: number, before: number): Generation {
  let places = FEWEST_PLACES
  while (places < 2 * before) places *= 2
  return { begunAt, table: new Int32Array(WIDTH * places), size: 0 }
}

/** Where the table has an id, or the free place for it. */
function placeOf(table: Int32Array, { first, second, third }: Fingerprint): number {
  const last = table.length - WIDTH
  let place = (WIDTH * first) & last
  while (table[place] !== 0 && (table[place] !== first || table[place + 1] !== second || table[place + 2] !== third)) {
    place = (place + WIDTH) & last
  }
  return place
}

function put(into: Generation, own: Fingerprint, now: number): void {
  write(into.table, own, Math.max(EARLIEST_MS, now - into.begunAt))
  into.size += 1
  if (2 * WIDTH * into.size > into.table.length) into.table = enlarged(into.table)
}

function write(table: Int32Array, own: Fingerprint, after: number): void {
  const place = placeOf(table, own)
  table[place] = own.first
  table[place + 1] = own.second
  table[place + 2] = own.third
  table[place + 3] = after
}

function enlarged(table: Int32Array): Int32Array {
  const larger = new Int32Array(2 * table.length)
  for (let place = 0; place < table.length; place += WIDTH) {
    const own = { first: table[place], second: table[place + 1], third: table[place + 2] } as Fingerprint
    if (own.first !== 0) write(larger, own, table[place + 3] as number)
  }
  return larger
}

/** In each number counts every character. */
function readFingerprint(id: string, into: Fingerprint): void {
  let [first, second, third] = [1, 2, 3]
  for (let index = 0; index < id.length; index++) {
    const code = id.charCodeAt(index)
    first = Math.imul(((first << 5) | (first >>> 27)) ^ code, 0x9e3779b1)
    second = Math.imul(((second << 7) | (second >>> 25)) ^ code, 0x85ebca77)
    third = Math.imul(((third << 11) | (third >>> 21)) ^ code, 0xc2b2ae3d)
  }
  // The upper half of a product is mixed best, and the lower says which place it is.
  into.first = first ^ (first >>> 15) || 1
  into.second = second
  into.third = third
}
