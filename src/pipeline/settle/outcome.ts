import { measured } from '../../lib/clock.ts'
import type { GatewayError } from '../../lib/errors.ts'
import type { Usage } from '../../modes/usage.ts'
import type { DeploymentOutcome } from '../../stores/kv/deployment-signals.ts'
import type { Attempt, Call, Reserved } from '../call.ts'
import type { PipelineServices } from '../services.ts'

/** How long after a success a deployment is not blamed for refusals that may be the request's fault. */
const DOUBT_MS = 900_000

/** Whether a failure counts against the deployment. A refusal that may be the request's fault does not while the
 *  deployment answers other calls: one odd client must not cool it for all. Nor does the provider's rate limit in a
 *  batch, which slows down by itself. */
function isBlamed({ clock, signals }: PipelineServices, { batch }: Call, { failure, deployment }: Attempt): boolean {
  if (failure?.row.blames !== 'deployment' || failure.details.blames === 'nobody') return false
  if (batch && failure.failure === 'upstream_rate_limited') return false
  if (failure.details.blames !== 'perhaps') return true
  const { samples, lastSuccessAt } = signals.of(deployment.id)
  return samples === 0 || clock.now() - lastSuccessAt > DOUBT_MS
}

/** The outcome that an attempt reports for its deployment. */
export function outcome(services: PipelineServices, call: Call, attempt: Attempt): DeploymentOutcome {
  const { failure, usage, startedAt, firstTokenAt, endedAt = startedAt } = attempt
  if (!attempt.asked && !failure?.row.blames) return unusedPlace(services, attempt.reserved)
  const { id: attemptId, reserved } = attempt
  const { deployment } = reserved
  const used = usage ? capacityOf(call, usage) : {}
  const after = cooldown(services, failure)
  if (attempt.lostHedge) return { attemptId, deployment, result: 'neutral', used, cooldown: after }
  if (failure) {
    const result = isBlamed(services, call, attempt) ? 'failed' : 'neutral'
    const error = failure.row.classification ?? failure.failure
    const told = { attemptId, deployment, result, used, error, cooldown: after } as const
    return attempt.asked ? told : { ...told, unusedSince: reserved.at }
  }
  const latencyMs = measured(endedAt - startedAt)
  const firstTokenMs = measured((firstTokenAt ?? endedAt) - startedAt)
  return { attemptId, deployment, result: 'succeeded', used, latencyMs, firstTokenMs, cooldown: after }
}

/** The outcome of a place that was never used: neutral, and its reservation is released. */
export function unusedPlace(services: PipelineServices, { attemptId, deployment, at }: Reserved): DeploymentOutcome {
  return { attemptId, deployment, result: 'neutral', used: {}, unusedSince: at, cooldown: cooldown(services) }
}

function capacityOf({ endpoint }: Call, usage: Usage): DeploymentOutcome['used'] {
  const { unit } = endpoint.mode
  const tokens = usage.inputTokens + usage.outputTokens
  // Requests were already counted when the place was reserved.
  return unit === 'tokens' || unit === 'requests' ? { tokens } : { tokens, [unit]: usage[unit] }
}

/** The outcome of an answer that has begun. */
export function begun(services: PipelineServices, { reserved }: Attempt): DeploymentOutcome {
  const { attemptId, deployment } = reserved
  return { attemptId, deployment, result: 'committed', used: {}, cooldown: cooldown(services) }
}

/** The longest Retry-After that is honoured. */
const LONGEST_WISH_SECONDS = 600

/** The cooldown after a failure: as long as the provider asks for, unless cooldowns are off. */
export function cooldown({ config }: PipelineServices, failure?: GatewayError): DeploymentOutcome['cooldown'] {
  const { allowed_fails: allowedFails, cooldown_time: seconds } = config.router_settings
  const wished = Math.min(failure?.details.retryAfterSeconds ?? 0, LONGEST_WISH_SECONDS)
  return { allowedFails, seconds: seconds === 0 ? 0 : Math.max(seconds, wished) }
}
