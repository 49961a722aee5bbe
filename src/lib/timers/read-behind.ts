import type { Timer, Timers } from './timers.ts'

/** Readers of a stream that run behind it. */
export interface ReadBehind<Item> {
  add(item: Item): void
  /** Has everything read that was added so far. */
  catchUp(): void
}

/** So many items wait at most: few enough to be young still when they are let go. */
const MOST_WAITING = 64
const LONGEST_MS = 10

/** Has many items read at once, a few milliseconds after they came: what adds them does not wait for their readers, whose
 *  code and tables are then at hand. Each reader gets the items in order, and may not throw. Without timers, where they
 *  would belong to a request that ends, each item is read when it comes. */
export function readBehind<Item>(
  readers: readonly ((item: Item) => void)[],
  timers: Timers | undefined,
): ReadBehind<Item> {
  let waiting: Item[] = []
  let timer: Timer | undefined

  function catchUp(): void {
    if (waiting.length === 0) return
    if (timer !== undefined) timers?.stop(timer)
    timer = undefined
    // A reader may add items.
    const items = waiting
    waiting = []
    for (const read of readers) for (const item of items) read(item)
  }

  return {
    catchUp,
    add(item) {
      waiting.push(item)
      if (!timers || waiting.length >= MOST_WAITING) catchUp()
      else timer ??= timers.after(LONGEST_MS, catchUp)
    },
  }
}
