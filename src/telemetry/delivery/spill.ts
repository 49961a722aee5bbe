import type { Backlog } from '../../stores/backlog/backlog.ts'
import type { Batch } from './batch-writer.ts'
import type { WaitingEntries } from './waiting-entries.ts'

/** How long a full backlog is not tried. */
const FULL_MS = 1000

export interface SpillOptions {
  /** The time that an entry waits for others if the backlog has older ones. */
  readonly gatherMs: number
  /** The time for which entries stay in memory only. */
  readonly spillMs: number
  /** Called with the number of entries that the backlog took. */
  readonly kept: (entries: number) => void
  /** Called when the backlog may have entries to write. */
  readonly filled: () => void
}

/** The way of waiting entries into the backlog, and out of it. */
export interface Spill {
  isEmpty(): boolean
  depth(): number
  /** When its oldest entry came at the earliest; of what another process left, when that was asked first. */
  since(): number | undefined
  /** Moves waiting entries into the backlog once they have waited too long, or if it has older ones. */
  watch(): void
  /** Its oldest entries, to be written before those in memory. */
  first(limit: number): Promise<Batch>
  /** Entries from a position on were written from memory: removes what was copied to the backlog meanwhile. */
  written(position: number, entries: number): Promise<void>
  /** Another process has left entries in the backlog. */
  adopted(): void
  /** Moves all waiting entries into the backlog, and watches no longer. */
  end(): Promise<void>
}

export function spillInto(backlog: Backlog, waiting: WaitingEntries, options: SpillOptions): Spill {
  const { gatherMs, spillMs, kept, filled } = options
  let timer: ReturnType<typeof setTimeout> | undefined
  let spilling: Promise<void> | undefined
  let since: number | undefined
  /** The position of the backlog's first entry among all entries so far, if all its entries are from this process. */
  let from: number | undefined
  /** The backlog was full and is not tried before this time. */
  let fullUntil = 0

  const isOld = () => performance.now() >= waiting.oldestAt() + spillMs

  function watch(): void {
    if (timer || waiting.count() === 0) return
    const dueAt = Math.max(fullUntil, backlog.isEmpty ? waiting.oldestAt() + spillMs : performance.now() + gatherMs)
    timer = setTimeout(
      () => {
        timer = undefined
        if (backlog.isEmpty && !isOld()) watch()
        else spill()
      },
      Math.max(0, dueAt - performance.now()),
    )
  }

  function spill(): void {
    spilling ??= moveAll().finally(() => {
      spilling = undefined
      watch()
      if (!backlog.isEmpty) filled()
    })
  }

  async function moveAll(): Promise<void> {
    const entries = waiting.first()
    if (entries.length === 0) return
    const position = waiting.position()
    const begunAt = performance.now()
    if (backlog.isEmpty) {
      from = position
      since = waiting.oldestAt()
    }
    const taken = await backlog.append(entries)
    waiting.release(position + taken)
    if (taken > 0) kept(taken)
    if (taken === entries.length) waiting.came(begunAt)
    else fullUntil = performance.now() + FULL_MS
  }

  async function remove(count: number): Promise<void> {
    for (let left = count; left > 0; ) {
      const { length } = await backlog.first(left)
      if (length === 0) return
      await backlog.remove(length)
      left -= length
    }
  }

  return {
    isEmpty: () => backlog.isEmpty,
    depth: () => backlog.depth,
    since() {
      since = backlog.isEmpty ? undefined : (since ?? performance.now())
      return since
    },
    watch,
    async first(limit) {
      const entries = await backlog.first(limit)
      if (entries.length > 0) from = undefined
      return { entries, done: () => backlog.remove(entries.length) }
    },
    async written(position, count) {
      await spilling
      if (from === position) await remove(count)
    },
    adopted() {
      if (backlog.isEmpty) return
      from = undefined
      filled()
    },
    async end() {
      clearTimeout(timer)
      await spilling
      await moveAll()
    },
  }
}
