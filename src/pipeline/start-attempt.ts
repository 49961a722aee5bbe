import type { Deployment } from '../routing/deployment.ts'
import { LEASE_SECONDS } from './admit.ts'
import { type Attempt, type Call, newAttemptId } from './call.ts'
import type { PipelineServices } from './pipeline.ts'
import { asCandidate } from './plan.ts'

/** What admission has already taken. */
export interface Reserved {
  readonly attemptId: string
  readonly deployment: string
}

/** Takes the lease for an attempt. undefined when the deployment is cooled or full. */
export async function startAttempt(
  services: PipelineServices,
  call: Call,
  deployment: Deployment,
  reserved?: Reserved,
): Promise<Attempt | undefined> {
  const own = reserved?.deployment === deployment.id && call.attempts.length === 0
  const id = own ? reserved.attemptId : newAttemptId()
  if (!own) {
    const candidate = asCandidate(services, deployment)
    const free = await services.store.startAttempt({ attemptId: id, candidate, leaseSeconds: LEASE_SECONDS })
    if (!free) return undefined
  }
  const started: Attempt = {
    id,
    deployment,
    startedAt: performance.now(),
    firstTokenAt: undefined,
    endedAt: undefined,
    failure: undefined,
    usage: undefined,
    outrun: false,
    settled: false,
  }
  call.attempts.push(started)
  return started
}
