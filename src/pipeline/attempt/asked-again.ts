import type { GatewayError } from '../../lib/errors.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { AttemptRequest } from './open-answer.ts'

/** What a provider refuses is told one thing after the other. */
const MOST_TIMES = 3
/** A refusal is forgotten after this time, because another model may take the place of the first. */
const FORGOTTEN_AFTER_MS = 600_000
const MOST_KNOWN = 16

interface Known {
  readonly failure: GatewayError
  readonly refused: string
  readonly until: number
}

/** What deployments have refused of each call that has it. A reconfigured deployment is a new object and starts clean. */
const known = new WeakMap<Deployment, readonly Known[]>()

/** The request of an attempt once more, in the way that its provider takes; undefined if it would be refused again. */
export function askedAgain(
  deployment: Deployment,
  asked: AttemptRequest,
  failure: GatewayError,
): AttemptRequest | undefined {
  const { translator, outgoing } = asked
  const again = inOtherWay(asked, failure)
  const refused = again && translator.refused?.(failure, outgoing)
  if (refused !== undefined) {
    const until = performance.now() + FORGOTTEN_AFTER_MS
    known.set(deployment, [...(known.get(deployment) ?? []), { failure, refused, until }].slice(-MOST_KNOWN))
  }
  return again
}

/** The request of an attempt in the way that its deployment is known to take. */
export function askedAsKnown(deployment: Deployment, first: AttemptRequest): AttemptRequest {
  const refusals = known.get(deployment)
  if (!refusals) return first
  let asked = first
  for (const { failure, refused, until } of refusals) {
    const applies = until > performance.now() && asked.translator.refused?.(failure, asked.outgoing) === refused
    if (applies) asked = inOtherWay(asked, failure) ?? asked
  }
  return asked
}

function inOtherWay(asked: AttemptRequest, failure: GatewayError): AttemptRequest | undefined {
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
