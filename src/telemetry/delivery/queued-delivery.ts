import type { Log } from '../../lib/log.ts'
import type { Queue } from '../../stores/queue/queue.ts'
import type { Sql } from '../../stores/sql/sql.ts'
import type { RecordsMoved } from '../events.ts'
import type { DeadLetters } from './dead-letters.ts'
import type { Delivery, Topic } from './delivery.ts'
import { directWriter } from './direct-writer.ts'
import { outcomes } from './outcomes.ts'
import { recordMessage } from './queued-records.ts'
import { turns } from './turns.ts'
import { unsentEntries, type Waiting } from './unsent-entries.ts'

export interface QueuedDeliveryOptions {
  readonly queue: Queue
  readonly sql: Sql
  readonly log: Log
  /** The place of entries that the database refuses and that cannot be added up. */
  readonly deadLetters?: DeadLetters
  /** Called with the outcome for the entries. */
  readonly report: (event: RecordsMoved) => void
  /** Keeps the runtime alive for work that outlives an answer. */
  readonly defer: (work: Promise<unknown>) => void
  /** How many entries wait in this isolate at most. */
  readonly mostWaiting?: number
}

/** How long entries gather after a send: it costs about as much as a request of a client. */
const GATHERING_MS = 25
/** How long sending is retried while neither queue nor database accepts entries. */
const TRIES_MS = 20_000
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 4000
const MOST_A_SEND = 100
/** How many entries wait in an isolate at most; further ones are added up. */
const MOST_WAITING = 5000

/** Sends entries to the queue of the runtime, because an isolate may end with any request. Entries that arrive during a send
 *  or shortly after it are sent together. Entries that the queue refuses are written to the database at once; if that fails too,
 *  they wait in the isolate for the next attempt, and are lost with it. */
export function queuedDelivery(options: QueuedDeliveryOptions): Delivery {
  const { queue, log, report, defer, mostWaiting = MOST_WAITING } = options
  /** Entries whose sending failed or is unknown, so they may have arrived. */
  let tried: Waiting[] = []
  const sending = new Set<readonly Waiting[]>()
  const works = new Set<Promise<void>>()
  const { areFree, take, has, end } = turns(Date.now)

  const told = outcomes<readonly Waiting[]>({
    log,
    report,
    measure: (entries) => {
      const [{ topic, since }] = entries as [Waiting]
      return { topic: topic.name, records: entries.length, waitedMs: Date.now() - since }
    },
    state: () => ({ waiting: fresh.count() + tried.length }),
  })
  const fresh = unsentEntries(mostWaiting, told)
  const write = directWriter({ ...options, outcomes: told })

  /** Sends entries to the queue, else to the database; resolves with those that failed for now. */
  async function send(entries: readonly Waiting[]): Promise<readonly Waiting[]> {
    try {
      await queue.send(entries.map(({ topic, entry }) => recordMessage(topic, entry)))
      return []
    } catch (error) {
      told.notQueued(error)
      return write(entries)
    }
  }

  /** Takes over the entries of a request that was killed while it was sending. */
  function takeOver(): void {
    tried = [...[...sending].flat(), ...tried]
    sending.clear()
  }

  async function sendAll(): Promise<void> {
    const turn = take()
    const begunAt = Date.now()
    takeOver()
    let pauseMs = FIRST_PAUSE_MS
    // A request that took over also has all waiting entries.
    while (has(turn) && tried.length + fresh.count() > 0) {
      const entries = tried.splice(0, MOST_A_SEND)
      entries.push(...fresh.take(MOST_A_SEND - entries.length))
      sending.add(entries)
      const left = await send(entries)
      // If another request took over, it has these entries too.
      if (sending.delete(entries)) tried = [...left, ...tried]
      if (left.length === 0) {
        fresh.endFolds()
        pauseMs = FIRST_PAUSE_MS
        if (fresh.count() < MOST_A_SEND) await pause(GATHERING_MS)
        continue
      }
      if (Date.now() - begunAt > TRIES_MS) break
      await pause(pauseMs)
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    }
    end(turn)
  }

  return {
    deliver(topic, entry) {
      fresh.add({ topic: topic as Topic, entry, since: Date.now() })
      if (!areFree()) return
      const work = sendAll().finally(() => works.delete(work))
      works.add(work)
      defer(work)
    },
    depth: (topic) =>
      [tried, ...sending].reduce(
        (sum, some) => sum + some.filter(({ topic: of }) => of.name === topic).length,
        fresh.ofTopic(topic),
      ),
    async drain() {
      await Promise.all(works)
      return fresh.count() + tried.length
    },
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
