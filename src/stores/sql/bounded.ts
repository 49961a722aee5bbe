import { atMost } from '../../lib/timers/at-most.ts'
import { noAnswer } from './adapters/wire.ts'
import type { Sql } from './sql.ts'

/** The longest wait of a model call for the database. */
export const MODEL_CALL_MS = 2000

/** The database with a deadline for every statement, after which it counts as away. */
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
