import { activeKey, deploymentKey } from '../keys.ts'
import type { AttemptStart } from '../shared-store.ts'
import { milliseconds } from '../windows.ts'
import { DEPLOYMENTS, pushLimits } from './deployments.ts'
import { type Argument, luaScript, type Script } from './script.ts'

/** An attempt that asks again after a lost answer gets the same answer. */
const TEXT = `
local state = readDeployment(key(), key())
local attemptId, leaseMs, early = text(), number(), number() == 1
if hasLease(state.active, attemptId) then return { '1' } end
local available = availability(state, readLimits(), attemptId)
local probes = available == 'half-open' or (early and available == 'cooled' and mayProbeEarly(state))
if available ~= 'free' and not probes then return { '0' } end
reserve(state, attemptId, leaseMs, probes)
return { '1' }
`

export const startAttemptScript: Script<AttemptStart, boolean> = {
  text: luaScript(DEPLOYMENTS, TEXT),
  encode({ attemptId, candidate, leaseSeconds, early }) {
    const args: Argument[] = [attemptId, milliseconds(leaseSeconds), early ? 1 : 0]
    pushLimits(args, candidate)
    return { keys: [deploymentKey(candidate.deployment), activeKey(candidate.deployment)], args }
  },
  decode: (reply) => reply.flag(),
}
