import { wakeBatches } from '../../../batch/wake-up.ts'
import { reachOf } from '../../../identity/grants.ts'
import { withinReach } from '../../../stores/sql/batches/administered-batches.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { requireCancelled } from '../../v1/batches/cancelled.ts'
import { noSuchBatch } from '../../v1/batches/no-such-batch.ts'
import { batchOfRequest, listedAnswer, listedBatch } from './administered-batch.ts'
import { batchParams } from './batch-params.ts'

export const cancelBatch = defineRoute(
  {
    method: 'post',
    path: '/ui/api/batches/{batch_id}/cancel',
    summary: 'Stops a batch: running requests end and are paid, the others are not called.',
    tag: 'Batches',
    auth: 'admin',
    permission: 'key.update',
    scoped: true,
    ofBatches: true,
    action: 'batch.cancel',
    params: batchParams,
    responses: { 200: { description: 'The batch, which is being cancelled.', schema: listedBatch } },
  },
  async (scope) => {
    const { services, client, caller } = scope
    const { batch_id: id, organization_id } = await batchOfRequest(scope, scope.input.params.batch_id, 'key.update')
    scope.audits({ resource_id: id, organization_id })
    const found = await services.records.batches.cancel(id, withinReach(reachOf(caller(), 'key.update')))
    if (!found) throw noSuchBatch()
    requireCancelled(found)
    client.defer(wakeBatches(services))
    return json(listedAnswer(await batchOfRequest(scope, id, 'key.update'), services.clock.now()))
  },
)
