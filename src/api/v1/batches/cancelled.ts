import { GatewayError } from '../../../lib/errors.ts'
import type { BatchRecord } from '../../../stores/sql/batches/batch-records.ts'

/** A batch that this or an earlier request cancels. Throws where it can no longer be cancelled. */
export function requireCancelled({
  batch,
  cancelled,
}: {
  readonly batch: BatchRecord
  readonly cancelled: boolean
}): BatchRecord {
  if (cancelled || batch.status === 'cancelling') return batch
  const message = `Cannot cancel a batch with status '${batch.status}'.`
  throw new GatewayError('conflict', message, { code: 'batch_not_cancellable' })
}
