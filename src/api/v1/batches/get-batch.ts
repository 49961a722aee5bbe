import * as z from 'zod'
import { batchOwnerOf } from '../../../stores/sql/batches/batch-owner.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { storable } from '../../storable.ts'
import { batchAnswer, batchObject } from './batch-object.ts'
import { noSuchBatch } from './no-such-batch.ts'

export const getBatch = defineRoute(
  {
    method: 'get',
    path: '/v1/batches/{batch_id}',
    summary: 'One batch.',
    tag: 'Batches',
    auth: 'caller',
    ofBatches: true,
    params: () => z.object({ batch_id: storable() }),
    responses: { 200: { description: 'The batch.', schema: batchObject } },
  },
  async ({ services, caller, input }) => {
    const { batch_id: id } = input.params
    const batch = await services.records.batches.find(id, batchOwnerOf(caller()))
    if (!batch) throw noSuchBatch()
    return json(batchAnswer(batch))
  },
)
