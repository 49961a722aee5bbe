import { describeError } from '../../lib/log.ts'
import { wake } from '../../stores/queue/wake.ts'
import type { EndedItem, ItemClaim, ReleasedItem } from '../../stores/sql/batches/claimed-items.ts'
import type { ItemRecords } from '../../stores/sql/batches/item-records.ts'
import { isPoison } from '../../telemetry/delivery/poison.ts'
import type { CallFinished } from '../../telemetry/events.ts'
import { ledger } from '../../telemetry/ledger.ts'
import { unansweredLine } from '../result-line.ts'
import type { Outcome, ReadyItem } from './executor.ts'
import type { RunServices } from './run-services.ts'

/** Outcomes within this time are stored together. If the process is killed meanwhile, their items run again. */
const GATHER_MS = 25
/** This many outcomes are stored at once. */
const ENOUGH = 128
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2000

interface Ended {
  readonly item: ReadyItem
  readonly outcome: Outcome
  readonly recorded: (written: boolean) => void
}

/** Records how tries ended, many in one statement. */
export interface ItemRecording {
  /** Resolves when it is stored; with false if the item's claim was lost, or this has closed. */
  add(item: ReadyItem, outcome: Outcome): Promise<boolean>
  /** Stores what has ended without waiting for more. */
  writeNow(): void
  /** Stops: what is not stored yet is left to the next claim. */
  close(): void
}

export function itemRecording(services: RunServices): ItemRecording {
  const { sql, log, delivery, telemetry } = services
  const { batchItems } = services.records
  let waiting: Ended[] = []
  let writing = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let closed = false
  const closing = wake()

  function schedule(): void {
    if (writing || waiting.length === 0) return
    if (waiting.length >= ENOUGH) return void write()
    timer ??= setTimeout(write, GATHER_MS)
  }

  async function write(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    writing = true
    const group = waiting
    waiting = []
    const written = new Set<string>()
    await attempted(() => record(group, written))
    for (const { item, recorded } of group) recorded(written.has(nameOf(item)))
    writing = false
    schedule()
  }

  /** Repeats a write until the database accepts or refuses it: the calls of these items have been paid. */
  async function attempted(work: () => Promise<void>): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; !closed; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        return await work()
      } catch (error) {
        log.warn('batch.not_recorded', { error: describeError(error) })
        if (isPoison(error)) return
      }
      await closing.wait(closing.count(), pauseMs)
    }
  }

  async function record(group: readonly Ended[], written: Set<string>): Promise<void> {
    const ended: EndedItem[] = []
    const events: CallFinished[] = []
    for (const { outcome } of group) {
      if (outcome.kind !== 'ended') continue
      ended.push(outcome.ended)
      if (outcome.event) events.push(outcome.event)
    }
    // The ledger first: an item that has ended has its row, even if this process is killed. A row that another try of
    // the same call has written stays the only one.
    if (events.length > 0) await charge(events)
    for (const done of await complete(ended)) written.add(nameOf(done))
    // The batch may have ended before this blob was stored: then no row names the blob any more.
    await batchItems.nameBlobs(ended.filter((one) => one.text === null && !written.has(nameOf(one))))
    const others = group.filter(({ outcome }) => outcome.kind !== 'ended')
    await release(others)
    for (const { item } of others) written.add(nameOf(item))
  }

  async function charge(events: readonly CallFinished[]): Promise<void> {
    try {
      const spent = await ledger.write(sql, events)
      telemetry.emit({
        type: 'records.written',
        topic: ledger.name,
        records: events.length,
        waitedMs: 0,
        spent: spent ?? undefined,
      })
    } catch (error) {
      if (!isPoison(error)) throw error
      // A row that the database refuses is handled like those of other calls: the delivery adds it up.
      for (const event of events) delivery.deliver(ledger, event)
    }
  }

  async function complete(ended: readonly EndedItem[]): ReturnType<ItemRecords['complete']> {
    try {
      return await batchItems.complete(ended)
    } catch (error) {
      if (!isPoison(error)) throw error
      if (ended.length > 1) return (await Promise.all(ended.map((one) => complete([one])))).flat()
      const [refused] = ended as [EndedItem]
      log.error('batch.result_refused', { batchId: refused.batchId, item: refused.item, error: describeError(error) })
      return batchItems.complete([unstored(refused)])
    }
  }

  async function release(group: readonly Ended[]): Promise<void> {
    const released: ReleasedItem[] = []
    const pauses = new Map<string, number>()
    for (const { item, outcome } of group) {
      if (outcome.kind === 'ended') continue
      const { delayMs, error: lastError } = outcome
      const isPostponed = outcome.kind === 'postponed'
      const pauseMs = isPostponed ? delayMs : outcome.kind === 'throttled' ? outcome.pauseMs : 0
      const tries = isPostponed ? item.tries : outcome.tries
      released.push({ ...item, tries, delayMs: isPostponed ? 0 : delayMs, lastError })
      if (pauseMs > 0) pauses.set(item.batchId, Math.max(pauses.get(item.batchId) ?? 0, pauseMs))
    }
    for (const [batchId, pauseMs] of pauses) await batchItems.postpone(batchId, pauseMs)
    await batchItems.release(released)
  }

  return {
    async add(item, outcome) {
      if (closed) return false
      const { promise, resolve: recorded } = Promise.withResolvers<boolean>()
      waiting.push({ item, outcome, recorded })
      schedule()
      return promise
    },
    writeNow() {
      if (!writing && waiting.length > 0) void write()
    },
    close() {
      closed = true
      closing.signal()
    },
  }
}

const nameOf = ({ batchId, item }: Pick<ItemClaim, 'batchId' | 'item'>) => `${batchId} ${item}`

/** The same item, with a result that says that its own could not be stored. */
function unstored(item: EndedItem): EndedItem {
  const code = 'result_not_stored'
  const message = 'The request was answered, but its result could not be stored.'
  const text = unansweredLine(item, { code, message })
  return { ...item, failed: true, errorCode: code, text }
}
