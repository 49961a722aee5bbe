import { GatewayError } from '../../lib/errors.ts'

export function refusedField(param: string): never {
  const message = `'${param}' cannot be told the provider of this model. Leave it out, or choose a model of ElevenLabs.`
  throw new GatewayError('invalid_request', message, { param, code: 'unsupported_parameter' })
}
