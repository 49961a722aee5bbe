import * as z from 'zod'
import { wakeBatches } from '../../../batch/wake-up.ts'
import { batchOwnerOf, ownedBy } from '../../../stores/sql/batches/batch-owner.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { storable } from '../../storable.ts'
import { batchAnswer, batchObject } from './batch-object.ts'
import { requireCancelled } from './cancelled.ts'
import { noSuchBatch } from './no-such-batch.ts'

export const cancelBatch = defineRoute(
  {
    method: 'post',
    path: '/v1/batches/{batch_id}/cancel',
    summary: 'Stop a batch: running requests end and are paid, the others are not called.',
    tag: 'Batches',
    auth: 'caller',
    ofBatches: true,
    action: 'batch.cancel',
    params: () => z.object({ batch_id: storable() }),
    responses: { 200: { description: 'The batch, which is being cancelled.', schema: batchObject } },
  },
  async (scope) => {
    const { services, client } = scope
    const { batch_id: id } = scope.input.params
    const owner = batchOwnerOf(scope.caller())
    const found = await services.records.batches.cancel(id, ownedBy(owner, 'gateway_batch'))
    if (!found) throw noSuchBatch()
    const batch = requireCancelled(found)
    scope.audits({ resource_id: id, organization_id: batch.organization_id })
    client.defer(wakeBatches(services))
    return json(batchAnswer(batch))
  },
)
