import type { GatewayError } from '../../lib/errors.ts'
import type { AttemptRequest } from './open-answer.ts'

/** The request of an attempt once more, without what the provider has refused of it; undefined if it has refused
 *  something else. */
export function askedAgain(asked: AttemptRequest, failure: GatewayError): AttemptRequest | undefined {
  const { again, ...translator } = asked.translator
  const without = again?.(failure)
  if (!without) return undefined
  return {
    ...asked,
    translator: { ...translator, request: async (call, to) => without(await translator.request(call, to)) },
  }
}
