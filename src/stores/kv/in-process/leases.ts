/** Leases, each with an id, an amount and an end. One id may have several with different amounts. A lease is removed at its
 *  end. */
export interface Leases {
  count(now: number): number
  /** Sum of the amounts. */
  total(now: number): number
  has(id: string, now: number, amount?: number): boolean
  /** Adds a lease, or gives one that is there its new end. */
  add(id: string, now: number, end: number, amount?: number): void
  /** Prolongs a lease that has not ended; never shortens one. */
  renew(id: string, now: number, end: number, amount?: number): void
  remove(id: string, amount?: number): void
  /** The leases as plain data, for `createLeases`. */
  written(): readonly WrittenLease[]
}

export type WrittenLease = readonly [id: string, end: number, amount: number]

/** The places of an empty table. A power of two, as every size of a table. */
const FEWEST_PLACES = 4
/** A table that is larger is given back once it is empty. */
const MOST_KEPT_PLACES = 64
/** The id of a free place. */
const FREE = ''

/** A hash table in arrays, in which a lease that comes and goes allocates nothing: every call holds several leases. One
 *  whose place is taken stands in the next free place. */
export function createLeases(written: readonly WrittenLease[] = []): Leases {
  let ids: string[] = []
  let amounts: number[] = []
  let ends: number[] = []
  let last = 0
  let size = 0
  let sum = 0
  /** No lease ends before this. */
  let earliest = Number.POSITIVE_INFINITY

  function makePlaces(places: number): void {
    ids = new Array<string>(places).fill(FREE)
    amounts = new Array<number>(places).fill(0)
    ends = new Array<number>(places).fill(Number.POSITIVE_INFINITY)
    last = places - 1
  }

  /** The place of a lease, or the free one that it would get. */
  function placeOf(id: string, amount: number): number {
    let place = hashOf(id) & last
    while (ids[place] !== FREE && (ids[place] !== id || amounts[place] !== amount)) place = (place + 1) & last
    return place
  }

  function put(id: string, end: number, amount: number): void {
    let place = placeOf(id, amount)
    if (ids[place] === FREE) {
      if (2 * size > last) {
        grow()
        place = placeOf(id, amount)
      }
      ids[place] = id
      amounts[place] = amount
      size += 1
      sum += amount
    }
    ends[place] = end
    if (end < earliest) earliest = end
  }

  function grow(): void {
    const all = writtenLeases()
    makePlaces(2 * ids.length)
    size = 0
    sum = 0
    for (const [id, end, amount] of all) put(id, end, amount)
  }

  /** Frees a place. Leases behind it that would no longer be found move up. */
  function free(place: number): void {
    size -= 1
    sum -= amounts[place] as number
    let gap = place
    for (let next = (gap + 1) & last; ids[next] !== FREE; next = (next + 1) & last) {
      const wanted = hashOf(ids[next] as string) & last
      if (((next - wanted) & last) < ((next - gap) & last)) continue
      ids[gap] = ids[next] as string
      amounts[gap] = amounts[next] as number
      ends[gap] = ends[next] as number
      gap = next
    }
    ids[gap] = FREE
    ends[gap] = Number.POSITIVE_INFINITY
    if (size === 0) empty()
  }

  function empty(): void {
    earliest = Number.POSITIVE_INFINITY
    if (last >= MOST_KEPT_PLACES) makePlaces(FEWEST_PLACES)
  }

  function sweep(now: number): void {
    if (now < earliest) return
    earliest = Number.POSITIVE_INFINITY
    for (let place = 0; place <= last; place++) {
      // Another lease may move up to a place that is freed.
      while ((ends[place] as number) <= now) free(place)
      earliest = Math.min(earliest, ends[place] ?? Number.POSITIVE_INFINITY)
    }
  }

  function writtenLeases(): WrittenLease[] {
    const all: WrittenLease[] = []
    for (let place = 0; place <= last; place++) {
      if (ids[place] !== FREE) all.push([ids[place] as string, ends[place] as number, amounts[place] as number])
    }
    return all
  }

  makePlaces(FEWEST_PLACES)
  for (const [id, end, amount] of written) put(id, end, amount)

  return {
    count(now) {
      sweep(now)
      return size
    },
    total(now) {
      sweep(now)
      return sum
    },
    has(id, now, amount = 0) {
      const place = placeOf(id, amount)
      return ids[place] !== FREE && (ends[place] as number) > now
    },
    add(id, now, end, amount = 0) {
      sweep(now)
      put(id, end, amount)
    },
    renew(id, now, end, amount = 0) {
      const place = placeOf(id, amount)
      if (ids[place] === FREE) return
      const held = ends[place] as number
      if (held > now && end > held) ends[place] = end
    },
    remove(id, amount = 0) {
      const place = placeOf(id, amount)
      if (ids[place] !== FREE) free(place)
    },
    written: writtenLeases,
  }
}

/** A hash of the end of an id, where ids differ. */
function hashOf(id: string): number {
  const { length } = id
  return (
    id.charCodeAt(length - 1) ^
    (id.charCodeAt(length - 2) << 5) ^
    (id.charCodeAt(length - 3) << 10) ^
    (id.charCodeAt(length - 4) << 15)
  )
}
