import { GatewayError } from '../../lib/errors.ts'

/** A field that chat has no words for: a 400 that names it. */
export function inexpressible(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param, code: 'unsupported_parameter' })
}
