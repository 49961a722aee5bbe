import type { Log } from '../../lib/log.ts'
import { atMost } from '../../lib/timers/at-most.ts'
import { pauses } from '../../lib/timers/pauses.ts'
import type { Backlog } from '../../stores/backlog/backlog.ts'
import type { Sql } from '../../stores/sql/sql.ts'
import type { RecordsMoved } from '../events.ts'
import { type Batch, batchWriter } from './batch-writer.ts'
import type { DeadLetters } from './dead-letters.ts'
import type { Topic } from './delivery.ts'
import { outcomes } from './outcomes.ts'
import { spillInto } from './spill.ts'
import { waitingEntries } from './waiting-entries.ts'

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
  /** Resolves when the entries that match wait no longer, or after `limitMs`. */
  written(matches: (entry: object) => boolean, limitMs: number): Promise<void>
  drain(limitMs: number): Promise<void>
}

/** How long an entry waits for others. */
export const GATHER_MS = 250

export function recordBuffer(topic: Topic, options: RecordBufferOptions): RecordBuffer {
  const { log, report, backlog, fold, gatherMs = GATHER_MS, spillMs = 750, batchSize = 1000 } = options
  const { capacity = 20_000, firstPauseMs = 250, longestPauseMs = 10_000 } = options
  const waiting = waitingEntries()
  const { pause, end: endPause } = pauses()
  let timer: ReturnType<typeof setTimeout> | undefined
  let writing: Promise<void> | undefined
  let draining = false

  const told = outcomes<number>({
    log,
    report,
    measure: (records) => ({
      topic: topic.name,
      records,
      waitedMs: Math.max(0, performance.now() - waiting.oldestAt()),
    }),
    state: () => ({ topic: topic.name, waiting: depth() }),
  })
  const spill =
    backlog &&
    spillInto(backlog, waiting, {
      gatherMs,
      spillMs,
      kept: (records) => told.moved('records.kept', records),
      filled: () => {
        if (!writing) start()
      },
    })
  const write = batchWriter(topic, {
    ...options,
    batchSize,
    next,
    goesOn: () => draining || waiting.count() >= batchSize || inBacklog(),
    pause: (failures) => pause(draining ? firstPauseMs : Math.min(firstPauseMs * 2 ** failures, longestPauseMs)),
    outcomes: told,
  })

  const depth = () => waiting.count() + (spill?.depth() ?? 0)
  const inBacklog = () => spill !== undefined && !spill.isEmpty()

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
    if (draining || inBacklog() || waiting.count() >= batchSize) start()
    else timer ??= setTimeout(start, gatherMs)
  }

  /** The next batch. Entries in the backlog are older, so they come first. */
  async function next(limit: number): Promise<Batch> {
    const older = inBacklog() ? await spill?.first(limit).catch(unreadable) : undefined
    return older?.entries.length ? older : inMemory(limit)
  }

  /** A backlog that cannot be read does not block the entries in memory. */
  function unreadable(error: unknown): undefined {
    if (waiting.count() === 0) throw error
    told.failed(error)
  }

  function inMemory(limit: number): Batch {
    const begunAt = performance.now()
    const entries = waiting.first(limit)
    const position = waiting.position()
    return {
      entries,
      async done() {
        await spill?.written(position, entries.length)
        waiting.release(position + entries.length)
        waiting.came(begunAt)
      },
    }
  }

  return {
    depth,
    waiting: waiting.count,
    lagMs() {
      const since = spill?.since() ?? waiting.oldestAt()
      return depth() > 0 ? Math.max(0, performance.now() - since) : 0
    },
    checkBacklog: () => spill?.adopted(),
    add(entry) {
      if (waiting.count() >= capacity) {
        if (!fold(entry)) told.moved('records.dropped', 1)
        return
      }
      waiting.add(entry)
      if (!writing) schedule()
      spill?.watch()
    },
    async written(matches, limitMs) {
      const deadline = performance.now() + limitMs
      while (waiting.first().some(matches) && performance.now() < deadline) {
        start()
        if (writing) await atMost(deadline - performance.now(), writing)
      }
    },
    async drain(limitMs) {
      draining = true
      endPause()
      const deadline = performance.now() + limitMs
      while ((depth() > 0 || inBacklog()) && performance.now() < deadline) {
        start()
        if (writing) await atMost(deadline - performance.now(), writing)
      }
      await spill?.end()
      draining = false
    },
  }
}
