import { describeError } from '../../lib/log.ts'
import type { DeadLetter, DeadLetterRecords } from '../../stores/sql/dead-letter-records.ts'
import type { Sql } from '../../stores/sql/sql.ts'
import type { Topic } from './delivery.ts'
import { isPoison } from './poison.ts'

export interface Replayed {
  readonly letter_id: string
  /** Why the record was refused again; undefined if it is written. */
  readonly error: string | undefined
}

/** Writes dead letters to where they belong, and removes those that are written. Records are written once by their ids:
 *  of a replay that ended between the two, and of replays at the same time, the record is there once. */
export async function replayed(
  letters: readonly DeadLetter[],
  {
    sql,
    records,
    topics,
  }: { readonly sql: Sql; readonly records: DeadLetterRecords; readonly topics: readonly Topic[] },
): Promise<readonly Replayed[]> {
  const outcomes: Replayed[] = []
  for (const { letter_id, topic: name, body } of letters) {
    const error = await refusal(topics.find((topic) => topic.name === name))
    if (error === undefined) await records.remove(letter_id)
    else await records.refusedAgain(letter_id, error)
    outcomes.push({ letter_id, error })

    async function refusal(topic: Topic | undefined): Promise<string | undefined> {
      if (!topic) return `nothing writes records of topic '${name}'`
      try {
        await topic.write(sql, [body])
        return undefined
      } catch (error) {
        if (!isPoison(error)) throw error
        return describeError(error)
      }
    }
  }
  return outcomes
}
