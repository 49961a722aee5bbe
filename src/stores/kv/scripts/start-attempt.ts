import type { Reservation } from '../deployment-signals.ts'
import { activeKey, deploymentKey } from '../keys.ts'
import type { AttemptStart } from '../shared-store.ts'
import { milliseconds } from '../windows.ts'
import { DEPLOYMENTS, pushLimits } from './deployments.ts'
import { type Argument, luaScript, type Script } from './script.ts'

/** Reserves a deployment. A repeated request of the same attempt gets the same answer. */
const TEXT = `
local state = readDeployment(key(), key())
local attemptId, leaseMs, early, retry = text(), number(), number() == 1, number() == 1
if hasLease(state.active, attemptId) then return { now, state.probe == attemptId and 1 or 0 } end
local available = availability(state, readLimits(), attemptId)
local probe = available == 'half-open' or (early and available == 'cooled' and mayProbeEarly(state))
if available ~= 'free' and not probe and not (retry and available == 'cooled') then return {} end
reserve(state, attemptId, leaseMs, probe)
return { now, probe and 1 or 0 }
`

export const startAttemptScript: Script<AttemptStart, Reservation | undefined> = {
  text: luaScript(DEPLOYMENTS, TEXT),
  encode({ attemptId, candidate, leaseSeconds, early, retry }) {
    const args: Argument[] = [attemptId, milliseconds(leaseSeconds), early ? 1 : 0, retry ? 1 : 0]
    pushLimits(args, candidate.limits)
    return { keys: [deploymentKey(candidate.deployment), activeKey(candidate.deployment)], args }
  },
  decode: (reply, { candidate: { deployment } }) =>
    reply.left() === 0 ? undefined : { deployment, at: reply.number(), probe: reply.flag() },
}
