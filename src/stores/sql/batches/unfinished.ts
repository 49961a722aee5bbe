import { sql } from 'kysely'
import type { BatchStatus } from '../schema/batch-schema.ts'

/** The statuses of batches that may still read their input files, and write. */
export const UNFINISHED_STATUSES = [
  'validating',
  'in_progress',
  'finalizing',
  'cancelling',
] as const satisfies readonly BatchStatus[]

/** The condition that a row of gateway_batch has one of them. */
export const UNFINISHED = sql<boolean>`gateway_batch.status IN (${sql.join(UNFINISHED_STATUSES.map((status) => sql.lit(status)))})`
