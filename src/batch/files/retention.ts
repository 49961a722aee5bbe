import type { Config } from '../../config/schema.ts'
import type { RetentionRecords } from '../../stores/sql/batches/retention-records.ts'
import type { BatchFiles } from './batch-files.ts'

const DAY_SECONDS = 86_400

/** Of each kind, well below the subrequests that Workers allows for one event. */
const MOST_STEPS = 60
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

/** Repeats a step while there is something for it. */
async function repeated(signal: AbortSignal, step: () => Promise<number>): Promise<void> {
  for (let steps = 0; steps < MOST_STEPS && !signal.aborted; steps++) if ((await step()) === 0) return
}
