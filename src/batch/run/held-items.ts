import type { Outcome, ReadyItem } from './executor.ts'
import { type Pace, pace } from './pace.ts'

/** An item that this process has claimed. */
export interface HeldItem {
  readonly item: ReadyItem
  state: 'waiting' | 'running' | 'recording'
  startedAt: number | undefined
}

/** The items that this process has claimed: those that wait for their turn, run, or are being recorded. */
export interface HeldItems {
  readonly size: number
  readonly running: number
  runningOfKey(keyId: string): number
  add(item: ReadyItem): void
  /** Those that wait, in the order of their claims, without those of batches that run as many as they may. */
  startable(): HeldItem[]
  waiting(): readonly HeldItem[]
  waitingOf(batchId: string): HeldItem[]
  isWaiting(one: HeldItem): boolean
  started(one: HeldItem): void
  ended(one: HeldItem, how: Outcome['kind']): void
  /** Puts an item back whose try found no room beside others of its batch: it waits until one of them has ended, and
   *  fewer run at once. False if it ran alone. */
  heldBack(one: HeldItem): boolean
  remove(one: HeldItem): void
  all(): ReadyItem[]
  /** Nothing may start before something has ended. */
  isFull(): boolean
  /** How many more could start soon. */
  wanted(): number
  /** Nothing of this batch starts until something has ended. */
  block(batchId: string): void
  /** The batches of which nothing more can start. */
  blocked(): string[]
}

/** The span over which the rate of ended items is measured. */
const RECENTLY_MS = 500

interface OfBatch {
  readonly pace: Pace
  running: number
  held: number
  isBlocked: boolean
}

export function heldItems(concurrency: number): HeldItems {
  const held = new Set<HeldItem>()
  const batches = new Map<string, OfBatch>()
  const keys = new Map<string, number>()
  const endings: number[] = []
  const count = { waiting: 0, running: 0, recording: 0 }

  function batchOf({ batchId }: ReadyItem): OfBatch {
    const known = batches.get(batchId)
    if (known) return known
    const made = { pace: pace(concurrency), running: 0, held: 0, isBlocked: false }
    batches.set(batchId, made)
    return made
  }

  /** A batch that may run as many items as the whole stage has no limit of its own. */
  const mayStart = ({ running, pace: { allowed }, isBlocked }: OfBatch) =>
    !isBlocked && (allowed >= concurrency || running < allowed)
  const select = (test: (one: HeldItem) => boolean) => [...held].filter(test)
  const changeRunning = ({ item }: HeldItem, by: 1 | -1) => {
    batchOf(item).running += by
    const running = (keys.get(item.keyId) ?? 0) + by
    if (running === 0) keys.delete(item.keyId)
    else keys.set(item.keyId, running)
  }
  function enter(one: HeldItem, state: HeldItem['state']): void {
    count[one.state] -= 1
    count[state] += 1
    one.state = state
  }
  function recently(): number {
    const since = performance.now() - RECENTLY_MS
    while (endings[0] !== undefined && endings[0] < since) endings.shift()
    return endings.length
  }

  return {
    get size() {
      return held.size
    },
    get running() {
      return count.running
    },
    runningOfKey: (keyId) => keys.get(keyId) ?? 0,
    add(item) {
      held.add({ item, state: 'waiting', startedAt: undefined })
      batchOf(item).held += 1
      count.waiting += 1
    },
    startable: () => select((one) => one.state === 'waiting' && mayStart(batchOf(one.item))),
    waiting: () => select(({ state }) => state === 'waiting'),
    waitingOf: (batchId) => select(({ item, state }) => state === 'waiting' && item.batchId === batchId),
    isWaiting: (one) => one.state === 'waiting' && mayStart(batchOf(one.item)),
    started(one) {
      enter(one, 'running')
      one.startedAt = performance.now()
      changeRunning(one, 1)
    },
    ended(one, how) {
      const { startedAt } = one
      enter(one, 'recording')
      if (startedAt === undefined) return
      const now = performance.now()
      endings.push(now)
      changeRunning(one, -1)
      const batch = batchOf(one.item)
      batch.isBlocked = false
      if (how === 'throttled') batch.pace.throttled(startedAt, now)
      if (how === 'ended') batch.pace.succeeded()
    },
    heldBack(one) {
      const batch = batchOf(one.item)
      const { startedAt } = one
      if (batch.running < 2 || startedAt === undefined) return false
      enter(one, 'waiting')
      changeRunning(one, -1)
      one.startedAt = undefined
      batch.pace.throttled(startedAt, performance.now())
      batch.isBlocked = true
      return true
    },
    remove(one) {
      if (!held.delete(one)) return
      count[one.state] -= 1
      const batch = batchOf(one.item)
      batch.held -= 1
      if (batch.held === 0 && batch.pace.allowed === concurrency) batches.delete(one.item.batchId)
    },
    all: () => [...held].map(({ item }) => item),
    // An item that is not recorded yet counts as running: it would run again if this process were killed.
    isFull: () => count.running + count.recording >= concurrency,
    wanted() {
      const blocked = select((one) => one.state === 'waiting' && !mayStart(batchOf(one.item))).length
      const soon = Math.min(concurrency, recently())
      return concurrency - count.running + soon - (count.waiting - blocked)
    },
    block(batchId) {
      const batch = batches.get(batchId)
      if (batch) batch.isBlocked = batch.running > 0
    },
    blocked: () => [...batches].flatMap(([batchId, batch]) => (batch.held > 0 && !mayStart(batch) ? [batchId] : [])),
  }
}
