import { GatewayError } from '../../lib/errors.ts'

/** The refusal of hints that cannot be told the provider, where leaving them out is not allowed. */
export function refusedHints(fields: Iterable<string>): GatewayError {
  const [first = ''] = fields
  const message = `The provider of this model does not know '${first}', and hints may not be left out ('strict'). Leave it out, or choose another model.`
  return new GatewayError('invalid_request', message, { param: first, code: 'unsupported_parameter' })
}
