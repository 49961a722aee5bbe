import { elapsedMs } from '../../lib/clock.ts'
import { describeError, type Log, throttled } from '../../lib/log.ts'
import type { Queue } from '../../stores/queue/queue.ts'
import type { Sql } from '../../stores/sql/sql.ts'
import type { RecordsMoved } from '../events.ts'
import { type DeadLetters, isKept } from './dead-letters.ts'
import type { Delivery, Folding, RecordFold, Topic } from './delivery.ts'
import { isPoison } from './poison.ts'
import { recordMessage } from './queued-records.ts'

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

interface Waiting {
  readonly topic: Topic
  readonly entry: object
  readonly since: number
}

/** How long entries gather after a send: it costs about as much as a request of a client. */
const GATHERING_MS = 25
/** How long one request sends the entries of others; the runtime grants a request 30 s in all. */
const SENDS_FOR_OTHERS_MS = 5000
/** How long sending is retried while neither queue nor database accepts entries. */
const TRIES_MS = 20_000
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 4000
const MOST_A_SEND = 100
/** How many entries wait in an isolate at most; further ones are added up. */
const MOST_WAITING = 5000
const LOG_EVERY_MS = 1000
const FOLDED_LOG_EVERY_MS = 60_000

/** Sends entries to the queue of the runtime, because an isolate may end with any request. Entries that arrive during a send
 *  or shortly after it are sent together. Entries that the queue refuses are written to the database at once; if that fails too,
 *  they wait in the isolate for the next attempt, and are lost with it. */
export function queuedDelivery(options: QueuedDeliveryOptions): Delivery {
  const { queue, sql, log, deadLetters, report, defer, mostWaiting = MOST_WAITING } = options
  /** Entries without an attempt to send them. */
  const fresh: Waiting[] = []
  /** Entries whose sending failed or is unknown, so they may have arrived. */
  let tried: Waiting[] = []
  const sending = new Set<readonly Waiting[]>()
  const folds = new Map<Folding, RecordFold>()
  const works = new Set<Promise<void>>()
  /** The request that sends for all, and when it began; `-Infinity` if there is none. */
  let sender: object | undefined
  let begunAt = Number.NEGATIVE_INFINITY

  const reportMoved = (
    type: RecordsMoved['type'],
    { name }: Topic,
    entries: readonly Waiting[],
    spent?: RecordsMoved['spent'],
  ) =>
    report({ type, topic: name, records: entries.length, waitedMs: Date.now() - (entries[0] as Waiting).since, spent })

  let lastError = ''
  const count = () => ({ waiting: fresh.length + tried.length, error: lastError })
  const logNotQueued = throttled(LOG_EVERY_MS, Date.now, (suppressed) =>
    log.warn('records.not_queued', { ...count(), suppressed }),
  )
  const logFailed = throttled(LOG_EVERY_MS, Date.now, (suppressed) =>
    log.warn('records.failed', { ...count(), suppressed }),
  )
  const logDropped = throttled(LOG_EVERY_MS, Date.now, (suppressed) =>
    log.error('records.dropped', { ...count(), suppressed }),
  )
  const logDead = throttled(LOG_EVERY_MS, Date.now, (suppressed) =>
    log.error('records.dead', { ...count(), suppressed }),
  )
  const logFolded = throttled(FOLDED_LOG_EVERY_MS, Date.now, (suppressed) =>
    log.error('records.folded', { ...count(), suppressed }),
  )

  function drop(one: Waiting): void {
    reportMoved('records.dropped', one.topic, [one])
    logDropped()
  }

  /** Handles an entry beyond the capacity: an entry that can be added up makes space for one that cannot. */
  function overflow(one: Waiting): void {
    if (one.topic.folding) {
      addUp(one.topic.folding, one)
      return
    }
    const other = fresh.findIndex(({ topic }) => topic.folding)
    const [displaced] = other === -1 ? [] : fresh.splice(other, 1)
    if (!displaced?.topic.folding) {
      drop(one)
      return
    }
    fresh.push(one)
    addUp(displaced.topic.folding, displaced)
  }

  function addUp(folding: Folding, one: Waiting): void {
    const fold = folds.get(folding) ?? folding.begin()
    folds.set(folding, fold)
    fold.add(one.entry)
    reportMoved('records.folded', one.topic, [one])
    logFolded()
  }

  /** Adds the sums to the entries that are sent next. */
  function endFolds(): void {
    const since = Date.now()
    for (const [{ topic }, fold] of folds) fresh.push(...fold.end().map((entry) => ({ topic, entry, since })))
    folds.clear()
  }

  /** Writes entries to the database; resolves with those that failed for now. */
  async function write(topic: Topic, entries: readonly Waiting[]): Promise<readonly Waiting[]> {
    const [first] = entries as [Waiting]
    try {
      const spent = await topic.write(
        sql,
        entries.map(({ entry }) => entry),
      )
      reportMoved('records.written', topic, entries, spent ?? undefined)
      return []
    } catch (error) {
      lastError = describeError(error)
      if (!isPoison(error)) {
        reportMoved('records.failed', topic, entries)
        logFailed()
        return entries
      }
      if (entries.length > 1) return (await Promise.all(entries.map((one) => write(topic, [one])))).flat()
      const sums = addedUp(first)
      if (!sums) return keepRefused(first)
      reportMoved('records.folded', topic, entries)
      logFolded()
      return write(sums.topic, [sums])
    }
  }

  /** Keeps a refused entry as a dead letter, or drops it; resolves with it if that failed for now. */
  async function keepRefused(one: Waiting): Promise<readonly Waiting[]> {
    try {
      if (await isKept(deadLetters, one.topic, one.entry, lastError)) {
        reportMoved('records.dead', one.topic, [one])
        logDead()
      } else drop(one)
      return []
    } catch (error) {
      lastError = describeError(error)
      reportMoved('records.failed', one.topic, [one])
      logFailed()
      return [one]
    }
  }

  /** The sums of an entry that the database refuses. */
  function addedUp({ topic: { folding }, entry, since }: Waiting): Waiting | undefined {
    try {
      return folding && { topic: folding.topic, entry: folding.alone(entry), since }
    } catch {
      return undefined
    }
  }

  /** Sends entries to the queue, else to the database; resolves with those that failed for now. */
  async function send(entries: readonly Waiting[]): Promise<readonly Waiting[]> {
    try {
      await queue.send(entries.map(({ topic, entry }) => recordMessage(topic, entry)))
      return []
    } catch (error) {
      lastError = describeError(error)
      logNotQueued()
      const byTopic = Map.groupBy(entries, ({ topic }) => topic)
      return (await Promise.all([...byTopic].map(([topic, some]) => write(topic, some)))).flat()
    }
  }

  /** Takes over the entries of a request that was killed while it was sending. */
  function takeOver(): void {
    tried = [...[...sending].flat(), ...tried]
    sending.clear()
  }

  async function sendAll(): Promise<void> {
    const own = {}
    sender = own
    begunAt = Date.now()
    takeOver()
    let pauseMs = FIRST_PAUSE_MS
    // A request that took over also has all waiting entries.
    while (sender === own && tried.length + fresh.length > 0) {
      const entries = [...tried.splice(0, MOST_A_SEND)]
      entries.push(...fresh.splice(0, MOST_A_SEND - entries.length))
      sending.add(entries)
      const left = await send(entries)
      // If another request took over, it has these entries too.
      if (sending.delete(entries)) tried = [...left, ...tried]
      if (left.length === 0) {
        endFolds()
        pauseMs = FIRST_PAUSE_MS
        if (fresh.length < MOST_A_SEND) await pause(GATHERING_MS)
        continue
      }
      if (Date.now() - begunAt > TRIES_MS) break
      await pause(pauseMs)
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    }
    if (sender === own) begunAt = Number.NEGATIVE_INFINITY
  }

  return {
    deliver(topic, entry) {
      const one = { topic: topic as Topic, entry, since: Date.now() }
      if (fresh.length >= mostWaiting) overflow(one)
      else fresh.push(one)
      if (elapsedMs(begunAt, one.since) < SENDS_FOR_OTHERS_MS) return
      const work = sendAll().finally(() => works.delete(work))
      works.add(work)
      defer(work)
    },
    depth: (topic) =>
      [fresh, tried, ...sending].reduce(
        (sum, some) => sum + some.filter(({ topic: of }) => of.name === topic).length,
        0,
      ),
    async drain() {
      await Promise.all(works)
      return fresh.length + tried.length
    },
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
