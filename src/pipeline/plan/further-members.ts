import { GatewayError } from '../../lib/errors.ts'
import type { Deployment } from '../../routing/deployment.ts'
import { holdFallback } from '../admit/hold-fallback.ts'
import type { Call } from '../call.ts'
import type { PipelineServices } from '../services.ts'
import { takingCalls } from './candidate.ts'
import { learnSignals } from './learn-signals.ts'
import { ASKED, type Plan } from './plan.ts'

/** Loads the rest of a large group when its first members are exhausted: a few available ones at a time, by signals
 *  read for all at once. Their additional cost is held as for a fallback. */
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
      // Failures of earlier attempts tell more than the budget's refusal of the remaining ones.
      if (call.attempts.length === 0 || !(error instanceof GatewayError)) throw error
      left = []
      return left
    }
  }
}
