import { sql } from 'kysely'

/** Goes before a statement that makes accounts, or that decides by which accounts there are, in one batch with it: such
 *  changes take turns. A statement sees what was there when it began, so that it must begin when it has its turn. */
export const ACCOUNT_TURN = sql`SELECT pg_advisory_xact_lock(hashtext('gateway_account'))`
