import type { DeadLetterRecords } from '../../stores/sql/dead-letter-records.ts'
import type { Topic } from './delivery.ts'
import { isPoison } from './poison.ts'

export type DeadLetters = Pick<DeadLetterRecords, 'keep'>

/** Keeps an entry that the database refuses, for a replay; resolves with whether it could. Rejects if the database is
 *  away. */
export async function isKept(
  letters: DeadLetters | undefined,
  { name }: Topic,
  entry: object,
  error: string,
): Promise<boolean> {
  try {
    return (await letters?.keep(name, entry, error)) === true
  } catch (failure) {
    if (isPoison(failure)) return false
    throw failure
  }
}
