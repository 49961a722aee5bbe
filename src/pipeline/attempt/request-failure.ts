import { asGatewayError, GatewayError } from '../../lib/errors.ts'

/** What went wrong while a request was put into a provider's words, before anybody was asked: a mistake of the client's or
 *  of ours, which blames no deployment. */
export function asRequestFailure(error: unknown): GatewayError {
  // JSON is read however deep it is, and written only as deep as the stack.
  if (!(error instanceof RangeError)) return asGatewayError(error)
  return new GatewayError('invalid_request', 'The request body is nested too deeply for this model.', {
    code: 'nested_too_deeply',
    cause: error,
  })
}
