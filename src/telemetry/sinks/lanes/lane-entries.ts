import type { Gathering, SinkEntry } from '../sink.ts'
import { setAside } from './set-aside.ts'
import { sizeOf } from './size-of.ts'
import { packed, type WaitingEntry } from './waiting-entry.ts'

/** Entries beyond this number are packed: a far end that is so late may be away for long. */
const UNPACKED = 1000

/** The entries of a lane: those that wait for a batch, the oldest first, and those that are set aside. */
export interface LaneEntries {
  waiting(): number
  /** All of them. */
  count(): number
  /** False if something was dropped for lack of room, and nothing has left since. */
  hasRoom(): boolean
  /** Whether enough wait for a batch. */
  fillBatch(): boolean
  /** Returns whether there was room. */
  add(entry: SinkEntry): boolean
  /** The first, as many as fit into a batch of at most so many: one at least, if any wait. */
  first(most: number): readonly WaitingEntry[]
  /** Removes a batch, which is the first that wait. */
  release(batch: readonly WaitingEntry[]): void
  /** Sets entries aside, which come back together. */
  setAside(some: readonly WaitingEntry[], pauseMs: (failures: number) => number): void
  /** Whether an entry was set aside before. */
  knows(one: WaitingEntry): boolean
  /** Has those wait that are set aside. */
  takeBack(): void
  /** Returns the number of those that are removed. */
  removeAll(): number
}

/** `capacity`: the most that is kept. `back`: called when entries that were set aside wait again. */
export function laneEntries(
  gathering: Gathering,
  capacity: { readonly entries: number; readonly bytes: number },
  back: () => void,
): LaneEntries {
  let waiting: WaitingEntry[] = []
  let waitingBytes = 0
  let overflows = false
  const aside = setAside((some) => {
    push(some)
    back()
  })
  const count = () => waiting.length + aside.entries()

  function push(some: readonly WaitingEntry[]): void {
    waiting.push(...some)
    waitingBytes += bytesOf(some)
  }

  return {
    waiting: () => waiting.length,
    count,
    hasRoom: () => !overflows,
    fillBatch: () => waiting.length >= gathering.entries || waitingBytes >= gathering.bytes,
    add(entry) {
      const bytes = overflows ? 0 : sizeOf(entry)
      if (overflows || count() >= capacity.entries || waitingBytes + aside.bytes() + bytes > capacity.bytes) {
        // An entry that is too large for an empty lane does not make the lane full.
        overflows = count() > 0
        return false
      }
      waiting.push(waiting.length < UNPACKED ? { entry, bytes } : packed(entry, bytes))
      waitingBytes += bytes
      return true
    },
    first(most) {
      let bytes = 0
      const batch: WaitingEntry[] = []
      for (const one of waiting) {
        bytes += one.bytes
        if (batch.length > 0 && (batch.length >= most || bytes > gathering.bytes)) break
        batch.push(one)
      }
      return batch
    },
    release(batch) {
      waiting = waiting.slice(batch.length)
      waitingBytes = bytesOf(waiting)
      overflows = false
    },
    setAside: aside.add,
    knows: aside.knows,
    takeBack: () => push(aside.removeAll()),
    removeAll() {
      const removed = waiting.length + aside.removeAll().length
      waiting = []
      waitingBytes = 0
      return removed
    },
  }
}

const bytesOf = (some: readonly WaitingEntry[]) => some.reduce((sum, { bytes }) => sum + bytes, 0)
