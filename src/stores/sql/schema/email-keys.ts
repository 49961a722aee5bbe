import { type RawBuilder, sql } from 'kysely'
import { emailKey } from '../people/email-key.ts'
import { rowsOf, statementOf } from '../query.ts'
import { type Sql, SqlError, type Statement } from '../sql.ts'

/** SQLSTATE undefined_table, undefined_column. */
const NOT_YET: ReadonlySet<string | undefined> = new Set(['42P01', '42703'])

const BEYOND_ASCII = sql`octet_length(email_key) <> char_length(email_key)`

/** Statements that give accounts and invitations of earlier builds, which kept domains as they were typed, the key by which
 *  they are found now. An account whose key is another's stays as it is. */
export async function renewedEmailKeys(database: Sql): Promise<readonly Statement[]> {
  const changes = async (select: RawBuilder<{ email_key: string }>, change: Change) =>
    (await rowsOf(database, select)).flatMap(({ email_key: former }) => {
      const key = emailKey(former)
      return key === former ? [] : [statementOf(change(former, key))]
    })
  try {
    return [
      ...(await changes(sql`SELECT email_key FROM gateway_account WHERE ${BEYOND_ASCII}`, ofAccount)),
      ...(await changes(sql`SELECT DISTINCT email_key FROM gateway_invitation WHERE ${BEYOND_ASCII}`, ofInvitations)),
    ]
  } catch (error) {
    if (error instanceof SqlError && NOT_YET.has(error.code)) return []
    throw error
  }
}

type Change = (former: string, key: string) => RawBuilder<unknown>

const ofAccount: Change = (former, key) => sql`
  UPDATE gateway_account SET email_key = ${key}
  WHERE email_key = ${former} AND NOT EXISTS (SELECT FROM gateway_account WHERE email_key = ${key})`

const ofInvitations: Change = (former, key) =>
  sql`UPDATE gateway_invitation SET email_key = ${key} WHERE email_key = ${former}`
