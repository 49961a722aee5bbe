import { GatewayError } from '../lib/errors.ts'

/** A credential that is not accepted, in the words of the protocol. */
export function refusal(
  code: 'missing_api_key' | 'invalid_api_key' | 'expired_api_key',
  message: string,
): GatewayError {
  return new GatewayError('authentication', message, { code, headers: { 'www-authenticate': 'Bearer' } })
}
