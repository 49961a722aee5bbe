import { sql } from 'kysely'

// Static text: the claims of items, which are text themselves, have the same condition.

/** That a row of gateway_batch, by its name in the statement, has not ended: it may still read its input file, and
 *  write. */
export const unfinished = (row: string): string =>
  `${row}.status IN ('validating', 'in_progress', 'finalizing', 'cancelling')`

export const UNFINISHED = sql.raw<boolean>(unfinished('gateway_batch'))
