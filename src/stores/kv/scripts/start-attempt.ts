import type { Reservation } from '../deployment-signals.ts'
import type { AttemptStart } from '../shared-store.ts'
import { milliseconds } from '../windows.ts'
import { DEPLOYMENTS, limitsText } from './deployments.ts'
import { isRead, readFlag, readNumber } from './reply.ts'
import { luaScript, type Script, written } from './script.ts'
import { deploymentKeys } from './script-keys.ts'

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
    const args = written([attemptId, milliseconds(leaseSeconds), early ? 1 : 0, retry ? 1 : 0])
    return { keys: [deploymentKeys(candidate.deployment)], args: `${args},${limitsText(candidate.limits)}` }
  },
  decode: (reply, { candidate: { deployment } }) =>
    isRead(reply) ? undefined : { deployment, at: readNumber(reply), probe: readFlag(reply) },
}
