import type { Log } from '../../lib/log.ts'
import { describeError } from '../../lib/log.ts'
import type { Blobs } from '../../stores/blobs/blobs.ts'
import type { ItemRecords } from '../../stores/sql/batches/item-records.ts'
import { resultKey } from '../batch-ids.ts'
import { persistently } from '../persistently.ts'

/** Longer results are kept as blobs until the files are written. */
const LONG_RESULT = 256 * 1024

interface ResultStores {
  readonly blobs: Blobs
  readonly records: { readonly batchItems: Pick<ItemRecords, 'nameBlobs'> }
  readonly log: Log
}

/** Returns the text of a short result, and null for a long one after storing it as a blob. The database takes a result
 *  whose blob cannot be stored. */
export async function placeResult(
  { blobs, records, log }: ResultStores,
  { batchId, item }: { readonly batchId: string; readonly item: number },
  text: string,
): Promise<string | null> {
  if (text.length <= LONG_RESULT / 3) return text
  const bytes = new TextEncoder().encode(text)
  if (bytes.byteLength <= LONG_RESULT) return text
  const failed = (error: unknown) => log.warn('batch.result_not_stored', { batchId, item, error: describeError(error) })
  try {
    await persistently(async () => {
      await records.batchItems.nameBlobs([{ batchId, item }])
      await blobs.put(resultKey(batchId, item), bytes, 'application/json')
    }, failed)
    return null
  } catch {
    return text
  }
}
