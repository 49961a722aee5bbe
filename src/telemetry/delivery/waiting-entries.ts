/** Entries in memory, the oldest first. The position of one is its number among all that ever came. Times are by
 *  `performance.now()`. */
export interface WaitingEntries {
  count(): number
  /** The position of the first. */
  position(): number
  /** When the first came at the earliest. */
  oldestAt(): number
  add(entry: object): void
  first(limit?: number): readonly object[]
  /** Removes those before a position. */
  release(end: number): void
  /** Those that wait came at this time at the earliest. */
  came(at: number): void
}

export function waitingEntries(): WaitingEntries {
  const entries: object[] = []
  let removed = 0
  let oldestAt = performance.now()
  return {
    count: () => entries.length,
    position: () => removed,
    oldestAt: () => oldestAt,
    add(entry) {
      if (entries.length === 0) oldestAt = performance.now()
      entries.push(entry)
    },
    first: (limit) => entries.slice(0, limit),
    release(end) {
      if (end <= removed) return
      entries.splice(0, end - removed)
      removed = end
    },
    came(at) {
      oldestAt = at
    },
  }
}
