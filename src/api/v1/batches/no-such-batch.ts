import { GatewayError } from '../../../lib/errors.ts'

/** The same for a batch that does not exist and for one of another owner. */
export function noSuchBatch(id: string, param = 'batch_id'): GatewayError {
  return new GatewayError('not_found', `There is no batch '${id.slice(0, 200)}'.`, { param, code: 'batch_not_found' })
}
