import { type RawBuilder, sql } from 'kysely'

/** What has to hold for a session to be opened, and what changes with it: clauses of the statement that opens it. Its last
 *  one or another is called `given`, and has a row with the account's version where the condition holds. */
export interface Given {
  readonly accountId: string
  readonly clauses: RawBuilder<unknown>
}

/** Goes before a statement that has to see what earlier changes of an account have left, in one batch with it. */
export function accountLock(accountId: string): RawBuilder<unknown> {
  return sql`SELECT FROM gateway_account WHERE account_id = ${accountId} FOR UPDATE`
}

/** The session has not ended. */
export function isOpen(sessionId: string): RawBuilder<boolean> {
  return sql`EXISTS (SELECT FROM gateway_session WHERE session_id = ${sessionId} AND ended_at IS NULL)`
}
