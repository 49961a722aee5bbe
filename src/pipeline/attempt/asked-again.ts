import type { GatewayError } from '../../lib/errors.ts'
import type { AttemptRequest } from './open-answer.ts'

/** The request of an attempt once more, in the way that its provider takes; undefined if it would be refused again. */
export function askedAgain(asked: AttemptRequest, failure: GatewayError): AttemptRequest | undefined {
  const { again, ...translator } = asked.translator
  const otherwise = again?.(failure)
  if (!otherwise) return undefined
  return {
    ...asked,
    translator: { ...translator, request: async (call, to) => otherwise(await translator.request(call, to)) },
  }
}
