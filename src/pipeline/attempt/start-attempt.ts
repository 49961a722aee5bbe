import type { Deployment } from '../../routing/deployment.ts'
import { LEASE_SECONDS } from '../admit/decide.ts'
import { type Attempt, type Call, newAttemptId, type Reserved } from '../call.ts'
import { asCandidate, type Plan } from '../plan/plan.ts'
import type { PipelineServices } from '../services.ts'
import { settleEnded } from './settle-ended.ts'

/** Begins the attempt that admission has reserved a place for; undefined where that is elsewhere, or taken already. */
export function startReserved(call: Call, plan: Plan, deployment: Deployment): Attempt | undefined {
  const at = call.unused.findIndex((reserved) => reserved.deployment === deployment.id)
  const [reserved] = at === -1 ? [] : call.unused.splice(at, 1)
  return reserved && begin(call, plan, reserved, deployment)
}

/** Reserves a place for an attempt and begins it. undefined when the deployment is cooled or full. `early`: a cooled one
 *  may be probed before its time, because nobody else is left. `retry`: the call has failed there before, and that may
 *  have cooled it. `wanted`: whether it still is once the place is there. */
export async function startAttempt(
  services: PipelineServices,
  call: Call,
  plan: Plan,
  deployment: Deployment,
  options: { readonly early?: boolean; readonly retry?: boolean; readonly wanted?: () => boolean } = {},
): Promise<Attempt | undefined> {
  const { early = false, retry = false, wanted } = options
  const attemptId = newAttemptId()
  const candidate = asCandidate(services, deployment)
  const place = await services.store.startAttempt({ attemptId, candidate, leaseSeconds: LEASE_SECONDS, early, retry })
  if (!place) return undefined
  // Its failure was told, so that it has failed no more is to be told as soon.
  const reserved = { attemptId, ...place, probe: place.probe || retry }
  if (wanted?.() === false) {
    call.unused.push(reserved)
    settleEnded(services, call)
    return undefined
  }
  return begin(call, plan, reserved, deployment)
}

/** Gives the place of an attempt back that has asked nobody yet, and is none then. */
export function giveUp(services: PipelineServices, call: Call, attempt: Attempt): void {
  call.attempts.splice(call.attempts.indexOf(attempt), 1)
  call.unused.push(attempt.reserved)
  settleEnded(services, call)
}

function begin(call: Call, plan: Plan, reserved: Reserved, deployment: Deployment): Attempt {
  const started: Attempt = {
    id: reserved.attemptId,
    deployment,
    plan,
    reserved,
    startedAt: performance.now(),
    asked: false,
    firstTokenAt: undefined,
    endedAt: undefined,
    failure: undefined,
    usage: undefined,
    lostHedge: false,
    settled: false,
  }
  call.attempts.push(started)
  return started
}
