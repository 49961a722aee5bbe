import { sql } from 'kysely'

/** That a row of gateway_batch has not ended: it may still read its input file, and write. */
export const UNFINISHED = sql<boolean>`
  gateway_batch.status IN ('validating', 'in_progress', 'finalizing', 'cancelling')`
