import type { Deployment } from '../../routing/deployment.ts'
import { availabilityOf, type Candidate, type Capacity, type Preference } from '../../stores/kv/deployment-signals.ts'
import type { PipelineServices } from '../services.ts'

/** A deployment as a candidate for the shared store. Its limits count only with pre-call checks, or as the capacity
 *  that the strategy prefers by. */
export function asCandidate(
  { config }: PipelineServices,
  { id, limits }: Deployment,
  preference?: Preference,
): Candidate {
  const checked = config.router_settings.enable_pre_call_checks ? limits : NO_LIMITS
  return preference ? { deployment: id, limits: checked, capacity: limits } : { deployment: id, limits: checked }
}

const NO_LIMITS: Capacity = {}

/** Whether a deployment would take a call now, by the known signals. */
export function takingCalls(services: PipelineServices): (deployment: Deployment) => boolean {
  const now = services.clock.now()
  return (deployment) => {
    const { limits } = asCandidate(services, deployment)
    const availability = availabilityOf(services.signals.of(deployment.id), limits, now)
    return availability === 'free' || availability === 'half-open'
  }
}
