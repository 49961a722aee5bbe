import { GatewayError } from '../../lib/errors.ts'

/** The one answer to a name that means nothing here, or nothing to this caller. */
export function modelNotFound(model: string): GatewayError {
  const message = `The model '${model.slice(0, 200)}' does not exist or you do not have access to it.`
  return new GatewayError('model_not_found', message, { param: 'model' })
}
