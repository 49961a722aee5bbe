import { applySchema } from './apply-schema.ts'
import type { Sql } from './sql.ts'

/** A database whose schema is set up before its first statement. Each caller waits for a setting-up of its own until one
 *  has succeeded, since an isolate's requests must not wait for each other's input and output. */
export function schemaFirst(sql: Sql, text: string): Sql {
  let ready = false
  async function prepared(): Promise<void> {
    if (ready) return
    await applySchema(sql, text)
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
    ping: (timeoutMs) => sql.ping(timeoutMs),
    close: () => sql.close(),
  }
}
