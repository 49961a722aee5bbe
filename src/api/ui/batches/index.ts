import type { Route } from '../../route.ts'
import { batchesAsKey } from './as-key.ts'
import { cancelBatch } from './cancel-batch.ts'
import { getBatch } from './get-batch.ts'
import { getBatchFile } from './get-file.ts'
import { listBatches } from './list-batches.ts'
import { listItems } from './list-items.ts'
import { retryBatch } from './retry-batch.ts'

export const batches: readonly Route[] = [
  listBatches,
  getBatch,
  listItems,
  getBatchFile,
  cancelBatch,
  retryBatch,
  ...batchesAsKey,
]
