import { type RawBuilder, sql } from 'kysely'

/** A condition for opening a session and a change that goes with it, as clauses of the statement that opens it. One of
 *  them is called `given`, and has a row with the account's version if the condition holds. */
export interface Given {
  readonly accountId: string
  readonly clauses: RawBuilder<unknown>
}

/** The lock on an account, for the batch of a statement that must see all earlier changes of it. */
export function accountLock(accountId: string): RawBuilder<unknown> {
  return sql`SELECT FROM gateway_account WHERE account_id = ${accountId} FOR UPDATE`
}

/** The session has not ended. */
export function isOpen(sessionId: string): RawBuilder<boolean> {
  return sql`EXISTS (SELECT FROM gateway_session WHERE session_id = ${sessionId} AND ended_at IS NULL)`
}
