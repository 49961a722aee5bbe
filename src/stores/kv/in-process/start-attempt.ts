import type { Reservation } from '../deployment-signals.ts'
import type { AttemptStart } from '../shared-store.ts'
import { milliseconds } from '../windows.ts'
import { availability, mayProbeEarly, reserve, unknownDeployment } from './deployment-state.ts'
import { deploymentExpiresAt, type State } from './state.ts'

/** Reserves a deployment for a further attempt; undefined if it takes none now. `scripts/start-attempt.ts` implements it in
 *  Lua. */
export function startAttempt(
  state: State,
  { attemptId, candidate, leaseSeconds, early, retry }: AttemptStart,
  now: number,
): Reservation | undefined {
  const name = candidate.deployment
  const known = state.deployments.get(name) ?? unknownDeployment()
  if (known.active.has(attemptId, now)) return { deployment: name, at: now, probe: known.probe === attemptId }
  const available = availability(known, candidate, attemptId, now)
  const probe = available === 'half-open' || (early === true && available === 'cooled' && mayProbeEarly(known, now))
  if (available !== 'free' && !probe && !(retry && available === 'cooled')) return undefined
  reserve(known, attemptId, now + milliseconds(leaseSeconds), probe, now)
  state.deployments.set(name, known, deploymentExpiresAt(known, now))
  return { deployment: name, at: now, probe }
}
