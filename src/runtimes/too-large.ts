import { GatewayError } from '../lib/errors.ts'

export function tooLarge(limitBytes: number): GatewayError {
  return new GatewayError('payload_too_large', `The request body is larger than ${limitBytes} bytes.`)
}
