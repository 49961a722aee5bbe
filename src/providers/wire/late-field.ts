import { GatewayError } from '../../lib/errors.ts'

export const LATE_FIELD = 'late_field'

/** The failure of a form in which a field after the file changes the upstream request, which has been sent already. The
 *  pipeline repeats the request if it still has the file; else the client gets this error. */
export function lateField(): GatewayError {
  const message = "Every field must stand before 'file' in a form of this size for this model."
  return new GatewayError('invalid_request', message, { param: 'file', code: LATE_FIELD })
}
