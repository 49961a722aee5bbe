import type { Deployment } from '../../routing/deployment.ts'
import { LEASE_SECONDS } from '../admit/decide.ts'
import { type Attempt, type Call, newAttemptId, type Reserved } from '../call.ts'
import { asCandidate } from '../plan/candidate.ts'
import type { Plan } from '../plan/plan.ts'
import type { PipelineServices } from '../services.ts'
import { settleEnded } from './settle-ended.ts'

/** Begins an attempt at the place that admission reserved; undefined if that place is at another deployment or already
 *  used. */
export function startReserved(call: Call, plan: Plan, deployment: Deployment): Attempt | undefined {
  const at = call.unused.findIndex((reserved) => reserved.deployment === deployment.id)
  const [reserved] = at === -1 ? [] : call.unused.splice(at, 1)
  return reserved && begin(call, plan, reserved, deployment)
}

/** Reserves a place and begins an attempt; undefined if the deployment is cooled down or full. `early`: a cooled
 *  deployment may be probed before its time, because no other is left. `retry`: the call has failed there before, which
 *  may be why it is cooled. `wanted`: checked once the place is reserved. */
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
  const reserved = { attemptId, ...place, retry }
  if (wanted?.() === false) {
    call.unused.push(reserved)
    settleEnded(services, call)
    return undefined
  }
  return begin(call, plan, reserved, deployment)
}

/** Withdraws an attempt that was never sent and releases its place. */
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
    turn: call.turn,
    asked: false,
    firstTokenAt: undefined,
    endedAt: undefined,
    failure: undefined,
    upstreamStatus: undefined,
    upstreamWords: '',
    unfinished: false,
    usage: undefined,
    lostHedge: false,
    dropped: undefined,
    settled: false,
  }
  call.attempts.push(started)
  return started
}
