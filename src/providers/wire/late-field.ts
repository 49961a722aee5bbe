import { GatewayError } from '../../lib/errors.ts'

export const LATE_FIELD = 'late_field'

/** A field came behind the file that changes what a provider had been asked before its file began. The pipeline asks again
 *  where it still has the file; else the client reads this. */
export function lateField(): GatewayError {
  const message = "Every field must stand before 'file' in a form of this size for this model."
  return new GatewayError('invalid_request', message, { param: 'file', code: LATE_FIELD })
}
