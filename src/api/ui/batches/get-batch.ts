import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { batchOfRequest, shownAnswer, shownBatch } from './administered-batch.ts'
import { batchParams } from './batch-params.ts'

export const getBatch = defineRoute(
  {
    method: 'get',
    path: '/ui/api/batches/{batch_id}',
    summary: 'One batch, with its progress, its speed and its oldest error.',
    tag: 'Batches',
    auth: 'admin',
    permission: 'key.read',
    scoped: true,
    ofBatches: true,
    params: batchParams,
    responses: { 200: { description: 'The batch.', schema: shownBatch } },
  },
  async (scope) => {
    const { services, input } = scope
    const batch = await batchOfRequest(scope, input.params.batch_id, 'key.read')
    const oldest = await services.records.administeredBatches.oldestError(batch.batch_id)
    return json(shownAnswer(batch, oldest, services.clock.now()))
  },
)
