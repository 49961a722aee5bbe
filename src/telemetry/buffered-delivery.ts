import { atMost } from '../lib/at-most.ts'
import { describeError, type Log, throttled } from '../lib/log.ts'
import type { Sql } from '../stores/sql/sql.ts'
import type { Delivery, Topic } from './delivery.ts'
import type { RecordsMoved } from './events.ts'
import { isPoison } from './poison.ts'

export interface BufferedDeliveryOptions {
  readonly sql: Sql
  readonly log: Log
  /** Hears what became of the entries. */
  readonly report: (event: RecordsMoved) => void
  /** How long an entry waits for others to be written with. */
  readonly gatherMs?: number
  readonly batchSize?: number
  /** How many entries of a topic wait at most, while the database is away. */
  readonly capacity?: number
  readonly firstPauseMs?: number
  readonly longestPauseMs?: number
}

const LOG_EVERY_MS = 1000

/** Gathers entries in memory and writes them in batches, for a runtime whose process outlives its requests. While the
 *  database is away they wait, up to a bound; what comes after that is dropped, and counted. */
export function bufferedDelivery(options: BufferedDeliveryOptions): Delivery {
  const buffers = new Map<string, Buffer>()
  function bufferOf(topic: Topic): Buffer {
    const found = buffers.get(topic.name)
    if (found) return found
    const made = buffer(topic, options)
    buffers.set(topic.name, made)
    return made
  }
  return {
    deliver: (topic, entry) => bufferOf(topic as Topic).add(entry),
    depth: (topic) => buffers.get(topic)?.depth() ?? 0,
    async drain(limitMs) {
      const left = await Promise.all([...buffers.values()].map((one) => one.drain(limitMs)))
      return left.reduce((sum, count) => sum + count, 0)
    },
  }
}

interface Buffer {
  add(entry: object): void
  depth(): number
  drain(limitMs: number): Promise<number>
}

function buffer(topic: Topic, options: BufferedDeliveryOptions): Buffer {
  const { sql, log, report, gatherMs = 250, batchSize = 1000, capacity = 20_000 } = options
  const { firstPauseMs = 250, longestPauseMs = 10_000 } = options
  const waiting: object[] = []
  let oldestAt = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let writing: Promise<void> | undefined
  let draining = false
  let rouse: (() => void) | undefined

  let lastError = ''
  const logFailure = throttled(LOG_EVERY_MS, Date.now, (suppressed) =>
    log.warn('records.failed', { topic: topic.name, waiting: waiting.length, error: lastError, suppressed }),
  )
  const logDropped = throttled(LOG_EVERY_MS, Date.now, (suppressed) =>
    log.error('records.dropped', { topic: topic.name, waiting: waiting.length, error: lastError, suppressed }),
  )
  const tell = (type: RecordsMoved['type'], records: number) =>
    report({ type, topic: topic.name, records, waitedMs: Date.now() - oldestAt })

  function drop(records: number): void {
    tell('records.dropped', records)
    logDropped()
  }

  function start(): void {
    clearTimeout(timer)
    timer = undefined
    writing ??= write().finally(() => {
      writing = undefined
      // What came while the last batch was being written.
      if (waiting.length > 0) schedule()
    })
  }

  function schedule(): void {
    if (draining || waiting.length >= batchSize) start()
    else timer ??= setTimeout(start, gatherMs)
  }

  /** One batch, and more while they are full, while there is trouble, or while everything has to go. A batch with an entry
   *  that can never be written is halved until that one is alone. */
  async function write(): Promise<void> {
    let size = batchSize
    let failures = 0
    do {
      const batch = waiting.slice(0, size)
      const begunAt = Date.now()
      try {
        await topic.write(sql, batch)
        waiting.splice(0, batch.length)
        tell('records.written', batch.length)
        oldestAt = begunAt
        size = Math.min(batchSize, 2 * size)
        failures = 0
      } catch (error) {
        lastError = describeError(error)
        tell('records.failed', batch.length)
        logFailure()
        if (!isPoison(error)) await pause(failures++)
        else if (batch.length > 1) size = Math.ceil(batch.length / 2)
        else {
          waiting.shift()
          drop(1)
        }
      }
    } while (waiting.length > 0 && (draining || failures > 0 || size < batchSize || waiting.length >= batchSize))
  }

  async function pause(failures: number): Promise<void> {
    const pauseMs = draining ? firstPauseMs : Math.min(firstPauseMs * 2 ** failures, longestPauseMs)
    await new Promise<void>((resolve) => {
      const over = setTimeout(resolve, pauseMs)
      rouse = () => {
        clearTimeout(over)
        resolve()
      }
    })
    rouse = undefined
  }

  return {
    depth: () => waiting.length,
    add(entry) {
      if (waiting.length >= capacity) return drop(1)
      if (waiting.length === 0) oldestAt = Date.now()
      waiting.push(entry)
      if (!writing) schedule()
    },
    async drain(limitMs) {
      draining = true
      rouse?.()
      const deadline = Date.now() + limitMs
      while (waiting.length > 0 && Date.now() < deadline) {
        start()
        if (writing) await atMost(deadline - Date.now(), writing)
      }
      draining = false
      return waiting.length
    },
  }
}
