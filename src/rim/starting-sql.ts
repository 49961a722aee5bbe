import { describeError, type Log } from '../lib/log.ts'
import { applySchema } from '../stores/sql/apply-schema.ts'
import { type Sql, SqlError } from '../stores/sql/sql.ts'

/** A database that is still being prepared: its statements wait for that, a ping says at once that it is not there. */
export function startingSql(sql: Sql, ready: Promise<void>): Sql {
  let isReady = false
  ready.then(
    () => {
      isReady = true
    },
    () => {},
  )
  return {
    async query(statement) {
      if (!isReady) await ready
      return sql.query(statement)
    },
    async batch(statements) {
      if (!isReady) await ready
      return sql.batch(statements)
    },
    async ping(timeoutMs) {
      if (!isReady) throw new SqlError('The database is still starting.')
      await sql.ping(timeoutMs)
    },
    close: () => sql.close(),
  }
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 2000

/** Brings the database to the schema. One that is away is asked again for `patienceMs`, since databases and gateways are
 *  often started together; one that refuses is not. Rejects with a sentence for whoever started the gateway. */
export async function prepareDatabase(
  sql: Sql,
  schemaText: string,
  { patienceMs, log }: { readonly patienceMs: number; readonly log: Log },
): Promise<void> {
  const deadline = performance.now() + patienceMs
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      await applySchema(sql, schemaText)
      return
    } catch (error) {
      const { message } = error as Error
      if (!isAway(error)) throw new Error(`the schema cannot be applied to the database: ${message}`)
      if (performance.now() + pauseMs >= deadline) {
        throw new Error(`the database has not been there for ${Math.round(patienceMs / 1000)} seconds: ${message}`)
      }
      log.warn('database.away', { error: describeError(error) })
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

/** No answer at all, or one that says "not now": no connection, no room, starting up or shutting down. */
function isAway(error: unknown): boolean {
  return error instanceof SqlError && (error.code === undefined || /^(08|53|57P)/.test(error.code))
}
