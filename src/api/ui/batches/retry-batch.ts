import { retryFailed } from '../../../batch/retry/retry-failed.ts'
import { wakeBatches } from '../../../batch/wake-up.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { requireCreated } from '../../v1/batches/creation.ts'
import { batchOfRequest, listedAnswer, listedBatch } from './administered-batch.ts'
import { batchParams } from './batch-params.ts'

export const retryBatch = defineRoute(
  {
    method: 'post',
    path: '/ui/api/batches/{batch_id}/retry-failed',
    summary: 'Makes a new batch, for the same key, of the requests of an ended one that failed or never ran.',
    tag: 'Batches',
    auth: 'admin',
    permission: 'key.update',
    scoped: true,
    ofBatches: true,
    action: 'batch.retry',
    params: batchParams,
    responses: { 201: { description: 'The new batch.', schema: listedBatch } },
  },
  async (scope) => {
    const { services, client } = scope
    const batch = await batchOfRequest(scope, scope.input.params.batch_id, 'key.update')
    scope.audits({ resource_id: batch.batch_id, organization_id: batch.organization_id })
    const { status } = batch
    if (status !== 'completed' && status !== 'expired' && status !== 'cancelled') {
      const message = `A batch with status '${status}' has no failed requests to repeat.`
      throw new GatewayError('conflict', message, { code: 'batch_not_repeatable' })
    }
    if (batch.failed === 0) {
      throw new GatewayError('conflict', 'No request of the batch has failed.', { code: 'nothing_failed' })
    }
    const creation = await retryFailed(services, batch)
    const made = requireCreated(creation, batch.input_file_id, services.config).batch
    scope.audits({ metadata: { made: made.batch_id } })
    client.defer(wakeBatches(services))
    const { key_name, team_name } = batch
    const fresh = { ...made, key_name, team_name, running: 0, items_per_minute: 0 }
    return json(listedAnswer(fresh, services.clock.now()), 201)
  },
)
