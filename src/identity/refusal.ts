import { GatewayError } from '../lib/errors.ts'

/** The refusal of a credential, with the challenge that HTTP requires. */
export function refusal(
  code:
    | 'missing_api_key'
    | 'invalid_api_key'
    | 'expired_api_key'
    | 'missing_session'
    | 'session_ended'
    | 'another_account'
    | 'invalid_credentials'
    | 'invalid_mfa_code',
  message: string,
): GatewayError {
  return new GatewayError('authentication', message, { code, headers: { 'www-authenticate': 'Bearer' } })
}

export function addressRefused(): GatewayError {
  return new GatewayError('permission', 'The API key may not be used from this address.', {
    code: 'address_not_allowed',
  })
}
