import { GatewayError } from '../../lib/errors.ts'
import { describeError } from '../../lib/log.ts'
import type { Deployment } from '../../routing/deployment.ts'
import { holdFallback } from '../admit/hold-fallback.ts'
import type { Call } from '../call.ts'
import type { PipelineServices } from '../services.ts'
import { ASKED, type Plan, takingCalls } from './plan.ts'

/** The rest of a large group, for when nobody is left of the first: a few at a time of those that take calls now, by what
 *  the store says of all at once. What they cost beyond the first is held like that of a fallback. */
export function furtherMembers(services: PipelineServices, call: Call, plan: Plan): () => Promise<Deployment[]> {
  let left: Deployment[] | undefined
  return async () => {
    left ??= plan.others()
    if (left.length === 0) return []
    await learnSignals(services, call, left)
    const next = left.filter(takingCalls(services)).slice(0, ASKED)
    left = left.filter((deployment) => !next.includes(deployment))
    if (next.length === 0) return next
    try {
      return await holdFallback(services, call, plan, next)
    } catch (error) {
      // That nobody can pay for the others says less than what those who were asked have said.
      if (call.attempts.length === 0 || !(error instanceof GatewayError)) throw error
      left = []
      return left
    }
  }
}

/** A store that is away fails no call that it has admitted: then it goes on by what was known. */
export async function learnSignals(
  { store, signals, log }: PipelineServices,
  call: Call,
  of: readonly Deployment[],
): Promise<void> {
  try {
    signals.learn(await store.signals(of.map(({ id }) => id)))
  } catch (error) {
    log.warn('signals.failed', { callId: call.id, error: describeError(error) })
  }
}
