import { describeError, type Log, throttled } from '../../lib/log.ts'
import { atMost } from '../../lib/timers/at-most.ts'
import type { Backlog } from '../../stores/backlog/backlog.ts'
import type { Sql } from '../../stores/sql/sql.ts'
import type { RecordsMoved } from '../events.ts'
import { type DeadLetters, isKept } from './dead-letters.ts'
import type { Topic } from './delivery.ts'
import { isPoison } from './poison.ts'

export interface RecordBufferOptions {
  readonly sql: Sql
  readonly log: Log
  /** Called with the outcome for the entries. */
  readonly report: (event: RecordsMoved) => void
  /** The place of entries that the database does not accept in time. */
  readonly backlog?: Backlog | undefined
  /** Adds up an entry beyond the capacity, which no attempt was made to write; returns whether it could. */
  readonly fold: (entry: object) => boolean
  /** Adds up an entry that the database refuses, possibly twice; returns whether it could. */
  readonly foldAlone: (entry: object) => boolean
  /** The place of entries that the database refuses and that cannot be added up. */
  readonly deadLetters?: DeadLetters | undefined
  /** The time that an entry waits for others to form a batch. */
  readonly gatherMs?: number
  /** The time for which entries stay in memory only, if there is a backlog. */
  readonly spillMs?: number
  readonly batchSize?: number
  /** The most entries that wait in memory. */
  readonly capacity?: number
  readonly firstPauseMs?: number
  readonly longestPauseMs?: number
}

/** Entries of one topic on their way to the database: in memory, or in the backlog while the database does not accept
 *  them. All times are by the clock that nobody sets: with one that is set back they would reach the disk too late. */
export interface RecordBuffer {
  add(entry: object): void
  /** Writes entries that another process has left in the backlog. */
  checkBacklog(): void
  /** The number of entries in memory and in the backlog. */
  depth(): number
  /** The number of entries in memory only. */
  waiting(): number
  /** How long the oldest entry has waited at most; of what another process left, since it was found. */
  lagMs(): number
  drain(limitMs: number): Promise<void>
}

const LOG_EVERY_MS = 1000
const FULL_MS = 1000

export function recordBuffer(topic: Topic, options: RecordBufferOptions): RecordBuffer {
  const {
    sql,
    log,
    report,
    backlog,
    deadLetters,
    fold,
    foldAlone,
    gatherMs = 250,
    spillMs = 750,
    batchSize = 1000,
  } = options
  const { capacity = 20_000, firstPauseMs = 250, longestPauseMs = 10_000 } = options
  const waiting: object[] = []
  /** The number of entries that have left `waiting`: the position of its first entry among all so far. */
  let removed = 0
  let oldestAt = performance.now()
  /** When the oldest entry of the backlog came at the earliest; undefined while it is empty. */
  let backlogSince: number | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let spillTimer: ReturnType<typeof setTimeout> | undefined
  let writing: Promise<void> | undefined
  let spilling: Promise<void> | undefined
  let draining = false
  /** The position of the backlog's first entry among all entries so far, if all its entries are from this buffer. */
  let backlogFrom: number | undefined
  /** The backlog was full and is not tried before this time. */
  let fullUntil = 0
  let wake: (() => void) | undefined

  let lastError = ''
  const fields = (suppressed: number) => ({ topic: topic.name, waiting: depth(), error: lastError, suppressed })
  const logFailure = throttled(LOG_EVERY_MS, Date.now, (suppressed) => log.warn('records.failed', fields(suppressed)))
  const logDropped = throttled(LOG_EVERY_MS, Date.now, (suppressed) => log.error('records.dropped', fields(suppressed)))
  const logDead = throttled(LOG_EVERY_MS, Date.now, (suppressed) => log.error('records.dead', fields(suppressed)))
  const reportMoved = (type: RecordsMoved['type'], records: number, spent?: RecordsMoved['spent']) =>
    report({ type, topic: topic.name, records, waitedMs: Math.max(0, performance.now() - oldestAt), spent })

  const depth = () => waiting.length + (backlog?.depth ?? 0)
  const inBacklog = () => backlog !== undefined && !backlog.isEmpty

  /** Drops the entries before the position `end`. */
  function release(end: number): void {
    if (end <= removed) return
    waiting.splice(0, end - removed)
    removed = end
  }

  function drop(): void {
    reportMoved('records.dropped', 1)
    logDropped()
  }

  /** Keeps a refused entry as a dead letter, or drops it. */
  async function keepRefused(entry: object): Promise<void> {
    const reason = lastError
    if (!(await isKept(deadLetters, topic, entry, reason))) return drop()
    reportMoved('records.dead', 1)
    logDead()
  }

  function start(): void {
    clearTimeout(timer)
    timer = undefined
    writing ??= write().finally(() => {
      writing = undefined
      // Entries may have arrived while the last batch was written.
      if (depth() > 0 || inBacklog()) schedule()
    })
  }

  function schedule(): void {
    if (draining || inBacklog() || waiting.length >= batchSize) start()
    else timer ??= setTimeout(start, gatherMs)
  }

  /** A backlog that cannot be read does not block the entries in memory. */
  function unreadable(error: unknown): readonly object[] {
    if (waiting.length === 0) throw error
    lastError = describeError(error)
    logFailure()
    return []
  }

  /** The next batch. Entries in the backlog are older, so they come first. */
  async function next(limit: number): Promise<{ readonly batch: readonly object[]; readonly done: () => unknown }> {
    if (backlog && inBacklog()) {
      const batch = await backlog.first(limit).catch(unreadable)
      if (batch.length > 0) {
        backlogFrom = undefined
        return { batch, done: () => backlog.remove(batch.length) }
      }
    }
    const begunAt = performance.now()
    const batch = waiting.slice(0, limit)
    const start = removed
    return {
      batch,
      async done() {
        await spilling
        if (backlogFrom === start) await removeFromBacklog(batch.length)
        release(start + batch.length)
        oldestAt = begunAt
      },
    }
  }

  /** Removes entries that were copied to the backlog while a slow write of them succeeded. */
  async function removeFromBacklog(count: number): Promise<void> {
    for (let left = count; backlog && left > 0; ) {
      const { length } = await backlog.first(left)
      if (length === 0) return
      await backlog.remove(length)
      left -= length
    }
  }

  /** Writes one batch, and more while batches are full, after failures, and while draining. A batch with an entry that
   *  can never be written is halved until that entry is alone. */
  async function write(): Promise<void> {
    let size = batchSize
    let failures = 0
    do {
      let batch: readonly object[] = []
      try {
        const upcoming = await next(size)
        batch = upcoming.batch
        if (batch.length === 0) return
        const refused = await isRefused(batch)
        if (refused && batch.length > 1) {
          size = Math.ceil(batch.length / 2)
          continue
        }
        if (refused && !foldAlone(batch[0] as object)) await keepRefused(batch[0] as object)
        await upcoming.done()
        size = Math.min(batchSize, 2 * size)
        failures = 0
      } catch (error) {
        lastError = describeError(error)
        reportMoved('records.failed', batch.length)
        logFailure()
        await pause(failures++)
      }
    } while (draining || failures > 0 || size < batchSize || waiting.length >= batchSize || inBacklog())
  }

  /** Writes a batch and reports that; returns whether the database refuses it because of its content. */
  async function isRefused(batch: readonly object[]): Promise<boolean> {
    try {
      const spent = await topic.write(sql, batch)
      reportMoved('records.written', batch.length, spent ?? undefined)
      return false
    } catch (error) {
      if (!isPoison(error)) throw error
      lastError = describeError(error)
      reportMoved('records.failed', batch.length)
      logFailure()
      return true
    }
  }

  async function pause(failures: number): Promise<void> {
    const pauseMs = draining ? firstPauseMs : Math.min(firstPauseMs * 2 ** failures, longestPauseMs)
    await new Promise<void>((resolve) => {
      const over = setTimeout(resolve, pauseMs)
      wake = () => {
        clearTimeout(over)
        resolve()
      }
    })
    wake = undefined
  }

  /** Moves waiting entries into the backlog once they have waited too long, or if it has older ones. */
  function watch(): void {
    if (!backlog || spillTimer || waiting.length === 0) return
    const dueAt = Math.max(fullUntil, inBacklog() ? performance.now() + gatherMs : oldestAt + spillMs)
    spillTimer = setTimeout(
      () => {
        spillTimer = undefined
        if (!inBacklog() && performance.now() < oldestAt + spillMs) watch()
        else spill()
      },
      Math.max(0, dueAt - performance.now()),
    )
  }

  function spill(): void {
    spilling ??= toBacklog().finally(() => {
      spilling = undefined
      watch()
      if (inBacklog() && !writing) start()
    })
  }

  async function toBacklog(): Promise<void> {
    if (!backlog || waiting.length === 0) return
    const from = removed
    const entries = waiting.slice()
    const begunAt = performance.now()
    if (!inBacklog()) {
      backlogFrom = from
      backlogSince = oldestAt
    }
    const kept = await backlog.append(entries)
    release(from + kept)
    if (kept > 0) reportMoved('records.kept', kept)
    if (kept === entries.length) oldestAt = begunAt
    else fullUntil = performance.now() + FULL_MS
  }

  return {
    depth,
    waiting: () => waiting.length,
    lagMs() {
      backlogSince = inBacklog() ? (backlogSince ?? performance.now()) : undefined
      return depth() > 0 ? Math.max(0, performance.now() - (backlogSince ?? oldestAt)) : 0
    },
    checkBacklog: () => {
      if (inBacklog()) backlogFrom = undefined
      if (inBacklog() && !writing) start()
    },
    add(entry) {
      if (waiting.length >= capacity) {
        if (!fold(entry)) drop()
        return
      }
      if (waiting.length === 0) oldestAt = performance.now()
      waiting.push(entry)
      if (!writing) schedule()
      watch()
    },
    async drain(limitMs) {
      draining = true
      wake?.()
      const deadline = performance.now() + limitMs
      while ((depth() > 0 || inBacklog()) && performance.now() < deadline) {
        start()
        if (writing) await atMost(deadline - performance.now(), writing)
      }
      clearTimeout(spillTimer)
      await spilling
      await toBacklog()
      draining = false
    },
  }
}
