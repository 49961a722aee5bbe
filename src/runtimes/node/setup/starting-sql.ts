import { describeError, type Log } from '../../../lib/log.ts'
import type { Secret } from '../../../lib/secret.ts'
import { applySchema } from '../../../stores/sql/schema/apply-schema.ts'
import { requireSameSalt } from '../../../stores/sql/schema/same-salt.ts'
import { type Sql, SqlError } from '../../../stores/sql/sql.ts'

/** A database that is still being prepared: its statements wait for that, though not longer than for an answer; a ping
 *  says at once that it is not there. */
export function startingSql(sql: Sql, ready: Promise<void>, waitMs = 10_000): Sql {
  let isReady = false
  ready.then(
    () => {
      isReady = true
    },
    () => {},
  )
  const starting = () => new SqlError('The database is still starting.')
  async function prepared(): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(starting()), waitMs)
    })
    try {
      await Promise.race([ready, late])
    } finally {
      clearTimeout(timer)
    }
  }
  return {
    async query(statement) {
      if (!isReady) await prepared()
      return sql.query(statement)
    },
    async batch(statements) {
      if (!isReady) await prepared()
      return sql.batch(statements)
    },
    async ping(timeoutMs) {
      if (!isReady) throw starting()
      await sql.ping(timeoutMs)
    },
    close: () => sql.close(),
  }
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 2000

/** Brings the database to the schema, and makes sure that it belongs to gateways with this salt key. One that is away is asked again for `patienceMs`, since databases and gateways are
 *  often started together; one that refuses is not. Rejects with a sentence for whoever started the gateway. */
export async function prepareDatabase(
  sql: Sql,
  schemaText: string,
  {
    patienceMs,
    log,
    saltKey,
  }: { readonly patienceMs: number; readonly log: Log; readonly saltKey?: Secret | undefined },
): Promise<void> {
  const deadline = performance.now() + patienceMs
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      await applySchema(sql, schemaText)
      await requireSameSalt(sql, saltKey)
      return
    } catch (error) {
      const { message } = error as Error
      if (!(error instanceof SqlError)) throw error
      if (!error.isAway) throw new Error(`the schema cannot be applied to the database: ${message}`)
      if (performance.now() + pauseMs >= deadline) {
        throw new Error(`the database has not been there for ${Math.round(patienceMs / 1000)} seconds: ${message}`)
      }
      log.warn('database.away', { error: describeError(error) })
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
