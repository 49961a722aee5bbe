import { GatewayError } from '../../lib/errors.ts'
import { asList, asRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { Connection } from '../provider.ts'

/** Refuses the first part of a conversation that names what its provider would read with the operator's credentials, unless
 *  the operator allows that: `addresses` are those of such things. */
export function refuseCloudObjects(
  messages: readonly JsonRecord[],
  { parameters }: Connection,
  addresses: RegExp,
): void {
  if (parameters.allow_cloud_objects) return
  for (const [index, { content }] of messages.entries()) {
    for (const [at, value] of asList(content).entries()) {
      const part = asRecord(value)
      const type = typeof part.type === 'string' ? part.type : ''
      if (type === 'text' || type === '') continue
      const named = part[type]
      const texts = typeof named === 'string' ? [named] : Object.values(asRecord(named))
      if (texts.some((text) => typeof text === 'string' && addresses.test(text.trimStart()))) {
        throw operatorsOwn(`messages.${index}.content.${at}.${type}`)
      }
    }
  }
}

/** Why a field is refused that leads to what only the operator's credentials open. */
export function operatorsOwn(param: string): GatewayError {
  const message = `'${param}' names something that the provider would read with the operator's credentials, and this deployment does not allow that (gateway_params.allow_cloud_objects). Send the content itself.`
  return new GatewayError('invalid_request', message, { param })
}
