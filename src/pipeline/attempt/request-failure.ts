import { asGatewayError, GatewayError } from '../../lib/errors.ts'

/** Classifies an error from building the upstream request. Such an error is the client's or the gateway's and blames no
 *  deployment. */
export function asRequestFailure(error: unknown): GatewayError {
  // JSON of any depth can be parsed, but writing it recurses on the stack.
  if (!(error instanceof RangeError)) return asGatewayError(error)
  return new GatewayError('invalid_request', 'The request body is nested too deeply for this model.', {
    code: 'nested_too_deeply',
    cause: error,
  })
}
