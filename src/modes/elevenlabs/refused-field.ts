import { GatewayError } from '../../lib/errors.ts'

export function refusedField(param: string): never {
  const message = `The provider of this model does not know '${param}'. Leave it out, or choose a model of ElevenLabs.`
  throw new GatewayError('invalid_request', message, { param, code: 'unsupported_parameter' })
}
