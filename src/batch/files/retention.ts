import type { Config } from '../../config/schema.ts'
import { repeated } from '../../lib/job.ts'
import type { RetentionRecords } from '../../stores/sql/batches/retention-records.ts'
import type { BatchFiles } from './batch-files.ts'

const DAY_SECONDS = 86_400

const ITEMS_A_STEP = 10_000
const BATCHES_A_STEP = 500

/** Removes what is kept no longer: files that have expired, the items of batches whose input is gone, and such batches
 *  once they are old. Ended anywhere, the next run goes on. */
export function retention(
  files: Pick<BatchFiles, 'sweep'>,
  records: RetentionRecords,
  { file_retention_days: days }: Pick<Config['general_settings'], 'file_retention_days'>,
): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    await files.sweep(signal)
    await repeated(signal, () => records.removeItems(ITEMS_A_STEP))
    await repeated(signal, () => records.removeBatches(days * DAY_SECONDS, BATCHES_A_STEP))
  }
}
