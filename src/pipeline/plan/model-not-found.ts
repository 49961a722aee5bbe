import { GatewayError } from '../../lib/errors.ts'
import type { Registry } from '../../routing/registry.ts'

/** The same failure for a model that does not exist and for one that the caller may not call. */
export function modelNotFound(registry: Registry, model: string): GatewayError {
  const message = `The model '${model.slice(0, 200)}' does not exist or you do not have access to it.`
  return registry.unread ? notReadYet() : new GatewayError('model_not_found', message, { param: 'model' })
}

/** The failure of a name that is not in the file, before the database was read: the name may be there. */
export function notReadYet(): GatewayError {
  const message = 'What the database has is not read yet, and the configuration does not have this name. Try again.'
  return new GatewayError('database_unavailable', message, { retryAfterSeconds: 1 })
}
