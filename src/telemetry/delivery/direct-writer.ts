import type { Sql } from '../../stores/sql/sql.ts'
import { type DeadLetters, isKept } from './dead-letters.ts'
import type { Outcomes } from './outcomes.ts'
import { isPoison } from './poison.ts'
import type { Waiting } from './unsent-entries.ts'

export interface DirectWriterOptions {
  readonly sql: Sql
  /** The place of entries that the database refuses and that cannot be added up. */
  readonly deadLetters?: DeadLetters | undefined
  readonly outcomes: Outcomes<readonly Waiting[]>
}

/** Writes entries that the queue does not take to the database; resolves with those that failed for now. An entry that
 *  can never be written is added up, kept as a dead letter, or dropped. */
export function directWriter({ sql, deadLetters, outcomes }: DirectWriterOptions) {
  return async (entries: readonly Waiting[]): Promise<readonly Waiting[]> => {
    const byTopic = Map.groupBy(entries, ({ topic }) => topic)
    return (await Promise.all([...byTopic.values()].map(write))).flat()
  }

  /** The entries are of one topic. */
  async function write(entries: readonly Waiting[]): Promise<readonly Waiting[]> {
    const [first] = entries as [Waiting]
    try {
      const spent = await first.topic.write(
        sql,
        entries.map(({ entry }) => entry),
      )
      outcomes.moved('records.written', entries, spent ?? undefined)
      return []
    } catch (error) {
      if (!isPoison(error)) {
        outcomes.failed(error, entries)
        return entries
      }
      outcomes.refused(error)
      if (entries.length > 1) return (await Promise.all(entries.map((one) => write([one])))).flat()
      const sums = addedUp(first)
      if (!sums) return keepRefused(first)
      outcomes.moved('records.folded', entries)
      return write([sums])
    }
  }

  async function keepRefused(one: Waiting): Promise<readonly Waiting[]> {
    try {
      const isDead = await isKept(deadLetters, one.topic, one.entry, outcomes.lastError())
      outcomes.moved(isDead ? 'records.dead' : 'records.dropped', [one])
      return []
    } catch (error) {
      outcomes.failed(error, [one])
      return [one]
    }
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
