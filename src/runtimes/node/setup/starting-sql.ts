import { describeError, type Log } from '../../../lib/log.ts'
import type { SaltKeys } from '../../../lib/sealing/salt-key.ts'
import { applySchema } from '../../../stores/sql/schema/apply-schema.ts'
import { requireSameSalt } from '../../../stores/sql/schema/same-salt.ts'
import { type Sql, SqlError } from '../../../stores/sql/sql.ts'
import { databaseAdvice, isOfCertificate } from './database-advice.ts'

/** A database that is still being prepared. Statements wait for it up to `waitMs`; a ping fails at once. If it cannot be
 *  prepared, statements fail as if it were away: records stay for a process that has the database. */
export function startingSql(sql: Sql, ready: Promise<void>, waitMs = 10_000): Sql {
  let isReady = false
  const preparing = ready.then(
    () => {
      isReady = true
    },
    (error) => {
      throw new SqlError(`The database could not be prepared: ${describeError(error)}`)
    },
  )
  preparing.catch(() => {})
  const starting = () => new SqlError('The database is still starting.')
  async function prepared(): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(starting()), waitMs)
    })
    try {
      await Promise.race([preparing, late])
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

/** SQLSTATEs of what no waiting changes: disk_full, and those of a login that the server refuses. */
const LASTING = /^(53100|28)/

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 2000

/** Applies the schema, and checks that the database belongs to gateways with this salt key. Retries for `patienceMs`
 *  while the database is unreachable, since databases and gateways are often started together. Rejects with a message
 *  for the operator. */
export async function prepareDatabase(
  sql: Sql,
  schemaText: string,
  { patienceMs, log, saltKeys }: { readonly patienceMs: number; readonly log: Log; readonly saltKeys: SaltKeys },
): Promise<void> {
  const deadline = performance.now() + patienceMs
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      await applySchema(sql, schemaText)
      await requireSameSalt(sql, saltKeys)
      return
    } catch (error) {
      if (!(error instanceof SqlError)) throw error
      const { message } = error
      const says = `${message.replace(/\.$/, '')}. ${databaseAdvice(error)}`
      if (!error.isAway || LASTING.test(error.code ?? '') || isOfCertificate(error))
        throw new Error(`the schema cannot be applied to the database: ${says}`)
      if (performance.now() + pauseMs >= deadline) {
        throw new Error(`the database has not been there for ${Math.round(patienceMs / 1000)} seconds: ${says}`)
      }
      log.warn('database.away', { error: describeError(error) })
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
