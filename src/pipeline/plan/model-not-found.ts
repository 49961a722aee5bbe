import { GatewayError } from '../../lib/errors.ts'

/** The same failure for a model that does not exist and for one that the caller may not call. */
export function modelNotFound(model: string): GatewayError {
  const message = `The model '${model.slice(0, 200)}' does not exist or you do not have access to it.`
  return new GatewayError('model_not_found', message, { param: 'model' })
}
