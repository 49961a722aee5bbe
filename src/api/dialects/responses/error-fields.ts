import type { GatewayError } from '../../../lib/errors.ts'

/** The members of an `error` event: flat as the vendor documents them, and as the object that it and Open Responses send. */
export function errorFields({ code = null, message, row, details }: GatewayError): object {
  const { param = null } = details
  return { code, message, param, error: { type: row.type, code, message, param } }
}
