import { GatewayError } from '../../../lib/errors.ts'

/** The same for a batch that does not exist and for one of another owner. */
export function noSuchBatch(param: 'batch_id' | 'after' = 'batch_id'): GatewayError {
  return new GatewayError('not_found', 'There is no such batch.', { param, code: 'batch_not_found' })
}
