import { sql } from 'kysely'

/** The lock that serialises creating accounts and decisions about which accounts exist. A statement sees the state at
 *  its beginning, so that the change must be the next statement of the batch. */
export const ACCOUNT_TURN = sql`SELECT pg_advisory_xact_lock(hashtext('gateway_account'))`
