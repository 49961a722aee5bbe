import { GatewayError } from '../../lib/errors.ts'

/** The refusal of a field that chat cannot express. */
export function inexpressible(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param, code: 'unsupported_parameter' })
}
