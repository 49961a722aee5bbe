import { type Sql, SqlError } from '../sql.ts'

/** A database that is prepared before its first statement. Until a preparation has succeeded, each request runs its own,
 *  because the requests of an isolate must not await each other's I/O. A failure that is not the database's is final. */
export function preparedFirst(sql: Sql, prepare: () => Promise<void>): Sql {
  let ready = false
  let refused: SqlError | undefined
  async function prepared(): Promise<void> {
    if (ready) return
    if (refused) throw refused
    try {
      await prepare()
    } catch (error) {
      if (error instanceof SqlError) throw error
      refused = new SqlError((error as Error).message)
      throw refused
    }
    ready = true
  }
  return {
    async query(statement) {
      await prepared()
      return sql.query(statement)
    },
    async batch(statements) {
      await prepared()
      return sql.batch(statements)
    },
    async ping(timeoutMs) {
      if (refused) throw refused
      await sql.ping(timeoutMs)
    },
    close: () => sql.close(),
  }
}
