import { queries, rowsOf, statementOf } from '../query.ts'
import { type Sql, SqlError } from '../sql.ts'
import { renewedEmailKeys } from './email-keys.ts'
import { splitStatements } from './split-statements.ts'

/** Applies an idempotent schema, which creates `gateway_schema` and begins with an advisory lock, so that any number of
 *  processes can start at once. It costs one query if the same text was applied before. The applied versions are a set,
 *  so that instances of two releases do not overwrite each other's. What SQL cannot compute is renewed with each new text. */
export async function applySchema(sql: Sql, text: string): Promise<'applied' | 'current'> {
  const version = await fingerprintOfSchema(text)
  if (await isCurrent(sql, version)) return 'current'
  const mark = statementOf(
    queries
      .insertInto('gateway_schema')
      .values({ version })
      .onConflict((conflict) => conflict.doNothing()),
  )
  // Static text: schema.sql itself.
  const statements = splitStatements(text).map((statement) => ({ sql: statement, parameters: [] }))
  await sql.batch([...statements, ...(await renewedEmailKeys(sql)), mark])
  return 'applied'
}

const UNDEFINED_TABLE = '42P01'

async function isCurrent(sql: Sql, version: string): Promise<boolean> {
  try {
    const applied = queries.selectFrom('gateway_schema').select('version').where('version', '=', version)
    return (await rowsOf(sql, applied)).length > 0
  } catch (error) {
    if (error instanceof SqlError && error.code === UNDEFINED_TABLE) return false
    throw error
  }
}

/** Identifies the text of a schema. */
export async function fingerprintOfSchema(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
