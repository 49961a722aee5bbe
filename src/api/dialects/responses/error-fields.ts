import type { GatewayError } from '../../../lib/errors.ts'
import { openaiMessage } from '../../failures.ts'

/** The members of an `error` event: flat as the vendor documents them, and as the object that it and Open Responses send. */
export function errorFields(failure: GatewayError): object {
  const { code = null, row, details } = failure
  const { param = null } = details
  const message = openaiMessage(failure)
  return { code, message, param, error: { type: row.type, code, message, param } }
}
