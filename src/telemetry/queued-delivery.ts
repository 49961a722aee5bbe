import { describeError, type Log, throttled } from '../lib/log.ts'
import type { Queue } from '../stores/queue/queue.ts'
import type { Sql } from '../stores/sql/sql.ts'
import type { Delivery, Folding, RecordFold, Topic } from './delivery.ts'
import type { RecordsMoved } from './events.ts'
import { isPoison } from './poison.ts'
import { recordMessage } from './queued-records.ts'

export interface QueuedDeliveryOptions {
  readonly queue: Queue
  readonly sql: Sql
  readonly log: Log
  /** Hears what became of the entries. */
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

/** How long one request sends for others: it may have no more than 30 s itself. */
const SENDS_FOR_OTHERS_MS = 5000
/** How long it tries again when nobody takes what it has. */
const TRIES_MS = 20_000
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 4000
/** How many go together. */
const MOST_A_SEND = 100
/** How many wait in an isolate at most; then they are added up. */
const MOST_WAITING = 5000
const LOG_EVERY_MS = 1000
const FOLDED_LOG_EVERY_MS = 60_000

/** Sends entries through the queue of the runtime, which keeps them: an isolate may end with any request. What comes
 *  while some are being sent goes together, next. What the queue does not take is written at once; what the database does
 *  not take either waits in the isolate for the next attempt, and is lost with it. */
export function queuedDelivery(options: QueuedDeliveryOptions): Delivery {
  const { queue, sql, log, report, defer, mostWaiting = MOST_WAITING } = options
  /** Those that nobody tried to send. */
  const fresh: Waiting[] = []
  /** Those that perhaps have arrived. */
  let tried: Waiting[] = []
  const sending = new Set<readonly Waiting[]>()
  const folds = new Map<Folding, RecordFold>()
  const works = new Set<Promise<void>>()
  /** The request that sends for all, and when it began to; nobody does at `-Infinity`. */
  let sender: object | undefined
  let begunAt = Number.NEGATIVE_INFINITY

  const tell = (type: RecordsMoved['type'], { name }: Topic, entries: readonly Waiting[]) =>
    report({ type, topic: name, records: entries.length, waitedMs: Date.now() - (entries[0] as Waiting).since })

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
  const logFolded = throttled(FOLDED_LOG_EVERY_MS, Date.now, (suppressed) =>
    log.error('records.folded', { ...count(), suppressed }),
  )

  function drop(one: Waiting): void {
    tell('records.dropped', one.topic, [one])
    logDropped()
  }

  /** There is no room for one more: what can be added up makes way for what cannot. */
  function overflow(one: Waiting): void {
    if (one.topic.folding) {
      addUp(one.topic.folding, one)
      return
    }
    const other = fresh.findIndex(({ topic }) => topic.folding)
    const [making] = other === -1 ? [] : fresh.splice(other, 1)
    if (!making?.topic.folding) {
      drop(one)
      return
    }
    fresh.push(one)
    addUp(making.topic.folding, making)
  }

  function addUp(folding: Folding, one: Waiting): void {
    const fold = folds.get(folding) ?? folding.begin()
    folds.set(folding, fold)
    fold.add(one.entry)
    tell('records.folded', one.topic, [one])
    logFolded()
  }

  /** The sums go with what is sent next. */
  function endFolds(): void {
    const since = Date.now()
    for (const [{ topic }, fold] of folds) fresh.push(...fold.end().map((entry) => ({ topic, entry, since })))
    folds.clear()
  }

  /** Resolves with those that the database does not take now. */
  async function write(topic: Topic, entries: readonly Waiting[]): Promise<readonly Waiting[]> {
    const [first] = entries as [Waiting]
    try {
      await topic.write(
        sql,
        entries.map(({ entry }) => entry),
      )
      tell('records.written', topic, entries)
      return []
    } catch (error) {
      lastError = describeError(error)
      if (!isPoison(error)) {
        tell('records.failed', topic, entries)
        logFailed()
        return entries
      }
      if (entries.length > 1) return (await Promise.all(entries.map((one) => write(topic, [one])))).flat()
      const sums = addedUp(first)
      if (!sums) {
        drop(first)
        return []
      }
      tell('records.folded', topic, entries)
      logFolded()
      return write(sums.topic, [sums])
    }
  }

  /** Of one that the database refuses, its sums. */
  function addedUp({ topic: { folding }, entry, since }: Waiting): Waiting | undefined {
    try {
      return folding && { topic: folding.topic, entry: folding.alone(entry), since }
    } catch {
      return undefined
    }
  }

  /** Resolves with those that nobody takes now. */
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

  /** A request that was ended while it was sending has left what it had. */
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
    // Another that took over has taken all that waited, too.
    while (sender === own && tried.length + fresh.length > 0) {
      const entries = [...tried.splice(0, MOST_A_SEND)]
      entries.push(...fresh.splice(0, MOST_A_SEND - entries.length))
      sending.add(entries)
      const left = await send(entries)
      // Whoever took over has these as well.
      if (sending.delete(entries)) tried = [...left, ...tried]
      if (left.length === 0) {
        endFolds()
        pauseMs = FIRST_PAUSE_MS
        continue
      }
      if (Date.now() - begunAt > TRIES_MS) break
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    }
    if (sender === own) begunAt = Number.NEGATIVE_INFINITY
  }

  return {
    deliver(topic, entry) {
      const one = { topic: topic as Topic, entry, since: Date.now() }
      if (fresh.length >= mostWaiting) overflow(one)
      else fresh.push(one)
      if (one.since - begunAt < SENDS_FOR_OTHERS_MS) return
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
