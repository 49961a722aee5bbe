import { GatewayError } from '../../lib/errors.ts'
import { asList, asRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { Connection } from '../provider.ts'

/** Refuses a conversation with an object that the provider would read with the operator's credentials, unless the operator
 *  allows it. `addresses` matches the addresses of such objects. */
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
        throw cloudObjectRefused(`messages.${index}.content.${at}.${type}`)
      }
    }
  }
}

/** The refusal of a field that names an object which only the operator's credentials can read. */
export function cloudObjectRefused(param: string): GatewayError {
  const message = `'${param}' names an object that the provider would read with the operator's credentials, and this deployment does not allow that (gateway_params.allow_cloud_objects). Send the content itself.`
  return new GatewayError('invalid_request', message, { param })
}
