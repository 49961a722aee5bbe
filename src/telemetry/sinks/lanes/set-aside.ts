import type { WaitingEntry } from './waiting-entry.ts'

/** Entries that a far end did not take while it took others, such as one whose handling fails there each time. They come
 *  back after pauses of their own, so that they hold up no other entry. */
export interface SetAside {
  entries(): number
  bytes(): number
  /** Sets entries aside, which come back together. */
  add(some: readonly WaitingEntry[], pauseMs: (failures: number) => number): void
  /** Whether an entry was set aside before. */
  knows(one: WaitingEntry): boolean
  /** All entries, which no longer come back. */
  removeAll(): WaitingEntry[]
}

/** `back`: called with entries whose pause is over. */
export function setAside(back: (some: readonly WaitingEntry[]) => void): SetAside {
  const failuresOf = new WeakMap<WaitingEntry, number>()
  const groups = new Map<readonly WaitingEntry[], ReturnType<typeof setTimeout>>()
  // Kept, since they are asked for with every entry that comes.
  let entries = 0
  let bytes = 0
  function count(some: readonly WaitingEntry[], sign: 1 | -1): void {
    entries += sign * some.length
    for (const one of some) bytes += sign * one.bytes
  }
  return {
    entries: () => entries,
    bytes: () => bytes,
    add(some, pauseMs) {
      const failures = Math.max(0, ...some.map((one) => failuresOf.get(one) ?? 0))
      for (const one of some) failuresOf.set(one, failures + 1)
      const over = () => {
        groups.delete(some)
        count(some, -1)
        back(some)
      }
      groups.set(some, setTimeout(over, pauseMs(failures)))
      count(some, 1)
    },
    knows: (one) => failuresOf.has(one),
    removeAll() {
      const all = [...groups.keys()].flat()
      for (const timer of groups.values()) clearTimeout(timer)
      groups.clear()
      count(all, -1)
      return all
    },
  }
}
