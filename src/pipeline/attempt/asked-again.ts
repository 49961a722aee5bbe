import type { GatewayError } from '../../lib/errors.ts'
import type { AttemptRequest } from './open-answer.ts'

/** What a provider refuses is told one thing after the other. */
const MOST_TIMES = 3

/** The request of an attempt once more, in the way that its provider takes; undefined if it would be refused again. */
export function askedAgain(asked: AttemptRequest, failure: GatewayError): AttemptRequest | undefined {
  const { translator, outgoing, refusals = [] } = asked
  if (refusals.length === MOST_TIMES || refusals.includes(failure.message)) return undefined
  const rewrite = translator.again?.(failure, outgoing)
  if (!rewrite) return undefined
  return {
    ...asked,
    translator: { ...translator, request: async (call, to) => rewrite(await translator.request(call, to)) },
    refusals: [...refusals, failure.message],
  }
}
