import type { Sql } from '../../stores/sql/sql.ts'
import { type DeadLetters, isKept } from './dead-letters.ts'
import type { Topic } from './delivery.ts'
import type { Outcomes } from './outcomes.ts'
import { isPoison } from './poison.ts'

/** Entries that are written together, and what is done once they are. */
export interface Batch {
  readonly entries: readonly object[]
  readonly done: () => unknown
}

export interface BatchWriterOptions {
  readonly sql: Sql
  readonly batchSize: number
  /** The entries that are written next. */
  readonly next: (limit: number) => Promise<Batch>
  /** Whether there is more to write at once after a batch that was written. */
  readonly goesOn: () => boolean
  /** Waits after so many failures in a row. */
  readonly pause: (failures: number) => Promise<void>
  /** Adds up an entry that the database refuses, possibly twice; returns whether it could. */
  readonly foldAlone: (entry: object) => boolean
  /** The place of entries that the database refuses and that cannot be added up. */
  readonly deadLetters?: DeadLetters | undefined
  readonly outcomes: Outcomes<number>
}

/** Writes one batch, and more while there are and after failures. A batch with an entry that can never be written is
 *  halved until that entry is alone, which is added up, kept as a dead letter, or dropped. */
export function batchWriter(topic: Topic, options: BatchWriterOptions): () => Promise<void> {
  const { sql, batchSize, next, goesOn, pause, foldAlone, deadLetters, outcomes } = options

  async function write(): Promise<void> {
    let size = batchSize
    let failures = 0
    do {
      let entries: readonly object[] = []
      try {
        const batch = await next(size)
        entries = batch.entries
        if (entries.length === 0) return
        const refused = await isRefused(entries)
        if (refused && entries.length > 1) {
          size = Math.ceil(entries.length / 2)
          continue
        }
        if (refused) await settleRefused(entries[0] as object)
        await batch.done()
        size = Math.min(batchSize, 2 * size)
        failures = 0
      } catch (error) {
        outcomes.failed(error, entries.length)
        await pause(failures++)
      }
    } while (failures > 0 || size < batchSize || goesOn())
  }

  /** Writes entries and reports that; returns whether the database refuses them because of their content. */
  async function isRefused(entries: readonly object[]): Promise<boolean> {
    try {
      const spent = await topic.write(sql, entries)
      outcomes.moved('records.written', entries.length, spent ?? undefined)
      return false
    } catch (error) {
      if (!isPoison(error)) throw error
      outcomes.failed(error, entries.length)
      return true
    }
  }

  async function settleRefused(entry: object): Promise<void> {
    if (foldAlone(entry)) return
    const isDead = await isKept(deadLetters, topic, entry, outcomes.lastError())
    outcomes.moved(isDead ? 'records.dead' : 'records.dropped', 1)
  }

  return write
}
