import { atMost } from '../../lib/at-most.ts'
import { noAnswer } from './adapters/wire.ts'
import type { Sql } from './sql.ts'

/** How long a model call waits for the database, where it has to at all. */
export const MODEL_CALL_MS = 2000

/** The database for requests that nobody lets wait: what it has not answered by then is given up, whatever it waits for,
 *  and the database counts as away. */
export function bounded(sql: Sql, limitMs: number): Sql {
  async function inTime<Answer>(work: Promise<Answer>): Promise<Answer> {
    const answer = await atMost(limitMs, work)
    if (answer) return answer.value
    throw noAnswer(limitMs)
  }
  return {
    ...sql,
    query: (statement) => inTime(sql.query(statement)),
    batch: (statements) => inTime(sql.batch(statements)),
  }
}
