import { outputBound } from '../admit/output-bound.ts'
import type { Call } from '../call.ts'
import { requestBytes } from '../call-input.ts'
import type { PipelineServices } from '../services.ts'

/** Learns typical usage for later calls of the deployments that answered this turn. */
export function learnUsual({ usual }: PipelineServices, call: Call): void {
  const { endpoint, request } = call
  if (endpoint.free) return
  for (const { deployment, usage, failure, lostHedge, turn } of call.attempts) {
    if (!usage || usage.estimated || failure || lostHedge || turn !== call.turn) continue
    const { tokens, answers } = outputBound(endpoint, request, deployment)
    const limited = usage.outputTokens >= tokens
    usual.learn(deployment.id, { bodyBytes: requestBytes(call), usage, answers, limited })
  }
}
