interface Held {
  end: number
  amount: number
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
  /** What `createLeases` makes the same leases of. */
  written(): readonly WrittenLease[]
}

export type WrittenLease = readonly [id: string, end: number, amount: number]

/** The iterator is renewed after this many insertions beyond twice the number of leases. */
const PLACED_BETWEEN = 64

export function createLeases(written: readonly WrittenLease[] = []): Leases {
  let leases = new Map<string, Held>()
  let sum = 0
  /** No lease ends before this. */
  let earliest = Number.POSITIVE_INFINITY
  let latest = Number.NEGATIVE_INFINITY
  /** The map is ordered by end, which holds while all leases have the same length. */
  let ordered = true

  // Kept between sweeps, because a new iterator walks over all entries deleted since the map last grew. Renewed now and
  // then, because an iterator retains every table that the map has outgrown since.
  let order: MapIterator<[string, Held]> | undefined
  let first: [string, Held] | undefined
  let placed = 0

  function sweep(now: number): void {
    if (now < earliest) return
    if (!ordered) {
      leases = new Map([...leases].sort(([, one], [, other]) => one.end - other.end))
      order = undefined
      first = undefined
      ordered = true
    }
    order ??= leases.entries()
    for (;;) {
      first ??= order.next().value
      if (!first) break
      const [id, held] = first
      const current = leases.get(id) === held
      if (current && held.end > now) {
        earliest = held.end
        return
      }
      if (current) {
        leases.delete(id)
        sum -= held.amount
      }
      first = undefined
    }
    order = undefined
    earliest = Number.POSITIVE_INFINITY
  }

  function place(id: string, held: Held): void {
    leases.delete(id)
    leases.set(id, held)
    if (held.end < latest) ordered = false
    else latest = held.end
    if (held.end < earliest) earliest = held.end
    placed += 1
    if (placed > 2 * leases.size + PLACED_BETWEEN) {
      order = undefined
      first = undefined
      placed = 0
    }
  }

  function live(id: string, now: number): Held | undefined {
    const held = leases.get(id)
    return held && held.end > now ? held : undefined
  }

  for (const [id, end, amount] of written) {
    place(id, { end, amount })
    sum += amount
  }

  return {
    count(now) {
      sweep(now)
      return leases.size
    },
    total(now) {
      sweep(now)
      return sum
    },
    amount: (id, now) => live(id, now)?.amount ?? 0,
    has: (id, now) => live(id, now) !== undefined,
    add(id, now, end, amount = 0) {
      sweep(now)
      sum += amount - (leases.get(id)?.amount ?? 0)
      place(id, { end, amount })
    },
    renew(id, now, end) {
      const held = live(id, now)
      if (held && end > held.end) place(id, { end, amount: held.amount })
    },
    remove(id) {
      const held = leases.get(id)
      if (!held) return
      leases.delete(id)
      sum -= held.amount
    },
    written: () => Array.from(leases, ([id, { end, amount }]) => [id, end, amount] as const),
  }
}
