import {
  type Availability,
  availabilityOf,
  CAPACITY_UNITS,
  type Candidate,
  type Capacity,
  type CapacityUnit,
  type DeploymentOutcome,
  type DeploymentSignals,
} from '../deployment-signals.ts'
import { isOpen, milliseconds, windowEnd } from '../windows.ts'
import { createLeases, type Leases, type WrittenLease } from './leases.ts'

/** How much a new sample moves a decaying mean. */
const MEAN_WEIGHT = 0.3

/** The state of one deployment. `scripts/deployments.ts` implements it in Lua; the differential suite compares both. */
export interface DeploymentState {
  readonly active: Leases
  failures: number
  cooledUntil: number
  /** Attempt id of the last probe; it is in flight while its lease lives. */
  probe: string
  /** It was probed since it last recovered, so there is no further early probe. */
  probed: boolean
  latencyMs: number
  firstTokenMs: number
  samples: number
  sampledAt: number
  lastError: string
  lastErrorAt: number
  lastSuccessAt: number
  minuteEnds: number
  used: Record<CapacityUnit, number>
}

const nothingUsed = (): Record<CapacityUnit, number> => ({
  requests: 0,
  tokens: 0,
  images: 0,
  audioSeconds: 0,
  characters: 0,
  rerankUnits: 0,
})

export const unknownDeployment = (): DeploymentState => ({
  active: createLeases(),
  failures: 0,
  cooledUntil: 0,
  probe: '',
  probed: false,
  latencyMs: 0,
  firstTokenMs: 0,
  samples: 0,
  sampledAt: 0,
  lastError: '',
  lastErrorAt: 0,
  lastSuccessAt: 0,
  minuteEnds: 0,
  used: nothingUsed(),
})

/** The state as plain data, for `restoredDeployment`. */
export const writtenDeployment = ({ active, ...rest }: DeploymentState) => ({ ...rest, active: active.written() })

export function restoredDeployment(written: unknown): DeploymentState {
  const { active, ...rest } = written as Omit<DeploymentState, 'active'> & { active: readonly WrittenLease[] }
  return { ...unknownDeployment(), ...rest, active: createLeases(active) }
}

const probeInFlight = (state: DeploymentState, now: number) => state.probe !== '' && state.active.has(state.probe, now)

export function signalsOf(deployment: string, state: DeploymentState, now: number): DeploymentSignals {
  const used: Partial<Record<CapacityUnit, number>> = {}
  if (isOpen('minute', state.minuteEnds, now)) {
    for (const unit of CAPACITY_UNITS) if (state.used[unit] > 0) used[unit] = state.used[unit]
  }
  return {
    deployment,
    active: state.active.count(now),
    used,
    failures: state.failures,
    cooledUntil: state.cooledUntil,
    probing: probeInFlight(state, now),
    latencyMs: state.latencyMs,
    firstTokenMs: state.firstTokenMs,
    samples: state.samples,
    sampledAt: state.sampledAt,
    lastError: state.lastError,
    lastErrorAt: state.lastErrorAt,
    lastSuccessAt: state.lastSuccessAt,
  }
}

const NOTHING: Capacity = {}

/** Whether an attempt can reserve a deployment. A repeated request of the probe itself gets the same answer. */
export function availability(state: DeploymentState, { limits }: Candidate, id: string, now: number): Availability {
  const { failures, cooledUntil, lastErrorAt } = state
  const used = isOpen('minute', state.minuteEnds, now) ? state.used : NOTHING
  const probing = probeInFlight(state, now) && state.probe !== id
  return availabilityOf({ used, failures, cooledUntil, lastErrorAt, probing }, limits, now)
}

/** Whether a probe may start before the end of the cooldown: once in an outage. */
export const mayProbeEarly = (state: DeploymentState, now: number) => !state.probed && !probeInFlight(state, now)

function add(state: DeploymentState, used: Capacity, now: number): void {
  if (!isOpen('minute', state.minuteEnds, now)) {
    state.minuteEnds = windowEnd('minute', now)
    state.used = nothingUsed()
  }
  for (const unit of CAPACITY_UNITS) state.used[unit] += used[unit] ?? 0
}

export function reserve(
  state: DeploymentState,
  attemptId: string,
  leaseEnd: number,
  probes: boolean,
  now: number,
): void {
  add(state, { requests: 1 }, now)
  state.active.add(attemptId, now, leaseEnd)
  if (!probes) return
  state.probe = attemptId
  state.probed = true
}

const mean = (old: number, sample: number | undefined) => {
  if (sample === undefined) return old
  return old === 0 ? sample : old + MEAN_WEIGHT * (sample - old)
}

/** Whether an unused reservation was counted in the current minute. */
function isRefundable(state: DeploymentState, { attemptId, unusedSince }: DeploymentOutcome, now: number): boolean {
  if (unusedSince === undefined || !isOpen('minute', state.minuteEnds, now)) return false
  return windowEnd('minute', unusedSince) >= state.minuteEnds && state.active.has(attemptId, now)
}

/** Ends an outage: the deployment serves calls again, and its failures are reset. */
function recover(state: DeploymentState): void {
  state.failures = 0
  state.cooledUntil = 0
  state.probed = false
  state.probe = ''
}

/** What a repeated settlement does to a deployment: it releases the place of an attempt that has ended. */
export function onlyReleased(outcome: DeploymentOutcome): DeploymentOutcome | undefined {
  return outcome.result === 'committed' ? undefined : { ...outcome, result: 'neutral', used: NOTHING }
}

/** Records an outcome. Returns whether it cooled the deployment, which was not cooled before. */
export function finish(state: DeploymentState, outcome: DeploymentOutcome, now: number): boolean {
  const { attemptId, result } = outcome
  const continues = result === 'committed'
  if (isRefundable(state, outcome, now)) state.used.requests = Math.max(0, state.used.requests - 1)
  if (!continues) state.active.remove(attemptId)
  if (CAPACITY_UNITS.some((unit) => outcome.used[unit])) add(state, outcome.used, now)
  const ownProbe = state.probe === attemptId
  // A commit that is reported after its attempt ended is ignored.
  if (result === 'succeeded' || result === 'released' || (continues && state.active.has(attemptId, now))) recover(state)
  else if (ownProbe && !continues) state.probe = ''
  if (result === 'neutral') {
    if (ownProbe) state.probed = false
  } else if (result === 'failed') {
    // A cooldown of a time that is yet to come began before the clock was set back.
    if (state.lastErrorAt > now) state.cooledUntil = 0
    state.failures += 1
    state.lastError = outcome.error ?? ''
    state.lastErrorAt = now
    const { seconds, allowedFails } = outcome.cooldown
    if (seconds > 0 && state.failures > allowedFails) {
      const begins = state.cooledUntil <= now
      state.cooledUntil = Math.max(state.cooledUntil, now + milliseconds(seconds))
      return begins
    }
  } else if (result === 'succeeded') {
    state.latencyMs = mean(state.latencyMs, outcome.latencyMs)
    state.firstTokenMs = mean(state.firstTokenMs, outcome.firstTokenMs)
    if (outcome.latencyMs !== undefined) {
      state.samples += 1
      state.sampledAt = now
    }
    state.lastSuccessAt = now
  }
  return false
}
