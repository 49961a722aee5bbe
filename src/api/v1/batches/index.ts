import type { Route } from '../../route.ts'
import { cancelBatch } from './cancel-batch.ts'
import { createBatch } from './create-batch.ts'
import { getBatch } from './get-batch.ts'
import { listBatches } from './list-batches.ts'

export const batches: readonly Route[] = [createBatch, listBatches, getBatch, cancelBatch]
