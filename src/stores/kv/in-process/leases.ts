/** A lease and its neighbours. */
interface Held {
  readonly id: string
  end: number
  amount: number
  before: Held | undefined
  after: Held | undefined
}

/** Leases, each with an id, an end and an amount. A lease is removed at its end. */
export interface Leases {
  count(now: number): number
  /** Sum of the amounts. */
  total(now: number): number
  amount(id: string, now: number): number
  has(id: string, now: number): boolean
  add(id: string, now: number, end: number, amount?: number): void
  /** Prolongs a lease that has not ended; never shortens one. */
  renew(id: string, now: number, end: number): void
  remove(id: string): void
  /** The leases as plain data, for `createLeases`. */
  written(): readonly WrittenLease[]
}

export type WrittenLease = readonly [id: string, end: number, amount: number]

/** Above this number, leases are found by a map. Fewer are searched one by one: a map that every call enters and leaves
 *  is rehashed again and again. */
const MOST_LOOKED_THROUGH = 24

export function createLeases(written: readonly WrittenLease[] = []): Leases {
  let first: Held | undefined
  let last: Held | undefined
  let size = 0
  let sum = 0
  let byId: Map<string, Held> | undefined
  /** No lease ends before this. */
  let earliest = Number.POSITIVE_INFINITY
  /** The leases are in the order of their ends, as while all have the same length. */
  let ordered = true

  function find(id: string): Held | undefined {
    if (byId) return byId.get(id)
    let held = last
    while (held && held.id !== id) held = held.before
    return held
  }

  function append(id: string, end: number, amount: number): void {
    const held = { id, end, amount, before: last, after: undefined }
    if (last) last.after = held
    else first = held
    if (last && end < last.end) ordered = false
    last = held
    size += 1
    sum += amount
    if (end < earliest) earliest = end
    if (byId) byId.set(id, held)
    else if (size > MOST_LOOKED_THROUGH) {
      byId = new Map()
      for (let one = first; one; one = one.after) byId.set(one.id, one)
    }
  }

  function drop(held: Held): void {
    const { before, after } = held
    if (before) before.after = after
    else first = after
    if (after) after.before = before
    else last = before
    size -= 1
    sum -= held.amount
    byId?.delete(held.id)
    if (size === 0) {
      byId = undefined
      ordered = true
      earliest = Number.POSITIVE_INFINITY
    }
  }

  function sweep(now: number): void {
    if (now < earliest) return
    let held = first
    earliest = Number.POSITIVE_INFINITY
    while (held) {
      const { after } = held
      if (held.end <= now) drop(held)
      else {
        if (held.end < earliest) earliest = held.end
        if (ordered) return
      }
      held = after
    }
  }

  function live(id: string, now: number): Held | undefined {
    const held = find(id)
    return held && held.end > now ? held : undefined
  }

  for (const [id, end, amount] of written) append(id, end, amount)

  return {
    count(now) {
      sweep(now)
      return size
    },
    total(now) {
      sweep(now)
      return sum
    },
    amount: (id, now) => live(id, now)?.amount ?? 0,
    has: (id, now) => live(id, now) !== undefined,
    add(id, now, end, amount = 0) {
      sweep(now)
      const held = find(id)
      if (held) drop(held)
      append(id, end, amount)
    },
    renew(id, now, end) {
      const held = live(id, now)
      if (!held || end <= held.end) return
      drop(held)
      append(id, end, held.amount)
    },
    remove(id) {
      const held = find(id)
      if (held) drop(held)
    },
    written() {
      const all: WrittenLease[] = []
      for (let held = first; held; held = held.after) all.push([held.id, held.end, held.amount])
      return all
    },
  }
}
