import type { Deployment } from '../routing/deployment.ts'
import { LEASE_SECONDS } from './admit.ts'
import { type Attempt, type Call, newAttemptId } from './call.ts'
import type { PipelineServices } from './pipeline.ts'
import { asCandidate, type Plan } from './plan.ts'
import { settleEnded } from './settle-ended.ts'

/** What admission has already taken. */
export interface Reserved {
  readonly attemptId: string
  readonly deployment: string
}

/** Begins the attempt that admission has taken the lease for; undefined where that is another's, or begun already. */
export function startReserved(
  call: Call,
  plan: Plan,
  deployment: Deployment,
  reserved: Reserved | undefined,
): Attempt | undefined {
  if (reserved?.deployment !== deployment.id || call.attempts.length > 0) return undefined
  // It was to be given back for a better one, which then took nobody.
  const returned = call.returned.indexOf(reserved)
  if (returned !== -1) call.returned.splice(returned, 1)
  return begin(call, plan, reserved.attemptId, deployment)
}

/** Takes the lease for an attempt. undefined when the deployment is cooled or full. `early`: a cooled one may be probed
 *  before its time, because nobody else is left. `wanted`: whether it still is once the lease is there. */
export async function startAttempt(
  services: PipelineServices,
  call: Call,
  plan: Plan,
  deployment: Deployment,
  options: { readonly early?: true; readonly wanted?: () => boolean } = {},
): Promise<Attempt | undefined> {
  const { early = false, wanted } = options
  const id = newAttemptId()
  const candidate = asCandidate(services, deployment)
  const free = await services.store.startAttempt({ attemptId: id, candidate, leaseSeconds: LEASE_SECONDS, early })
  if (!free) return undefined
  if (wanted?.() === false) {
    call.returned.push({ attemptId: id, deployment: deployment.id })
    settleEnded(services, call, () => false)
    return undefined
  }
  return begin(call, plan, id, deployment)
}

function begin(call: Call, plan: Plan, id: string, deployment: Deployment): Attempt {
  const started: Attempt = {
    id,
    deployment,
    plan,
    startedAt: performance.now(),
    firstTokenAt: undefined,
    endedAt: undefined,
    failure: undefined,
    usage: undefined,
    outrun: false,
    comesAgain: false,
    settled: false,
  }
  call.attempts.push(started)
  return started
}
