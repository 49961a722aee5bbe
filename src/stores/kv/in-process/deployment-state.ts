import {
  type Availability,
  availabilityOf,
  type Candidate,
  type CapacityUnit,
  type DeploymentOutcome,
  type DeploymentSignals,
  PROBE_SECONDS,
  type Used,
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
  /** What is used of the minute that ends then. It is replaced and never changed, since signals have it too. */
  used: Used
}

const NOTHING: Used = {}

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
  used: NOTHING,
})

/** The state as plain data, for `restoredDeployment`. */
export const writtenDeployment = ({ active, ...rest }: DeploymentState) => ({ ...rest, active: active.written() })

export function restoredDeployment(written: unknown): DeploymentState {
  const { active, ...rest } = written as Omit<DeploymentState, 'active'> & { active: readonly WrittenLease[] }
  return { ...unknownDeployment(), ...rest, active: createLeases(active) }
}

const probeInFlight = (state: DeploymentState, now: number) => state.probe !== '' && state.active.has(state.probe, now)

/** Whether the minute is running in which units were used. */
const isRunning = ({ minuteEnds }: DeploymentState, now: number) => isOpen(minuteEnds, windowEnd('minute', now), now)

const usedNow = (state: DeploymentState, now: number) => (isRunning(state, now) ? state.used : NOTHING)

export function signalsOf(deployment: string, state: DeploymentState, now: number): DeploymentSignals {
  return {
    deployment,
    active: state.active.count(now),
    used: usedNow(state, now),
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

/** Whether an attempt can reserve a deployment. A repeated request of the probe itself gets the same answer. */
export function availability(state: DeploymentState, { limits }: Candidate, id: string, now: number): Availability {
  const { failures, cooledUntil, lastErrorAt } = state
  const probing = probeInFlight(state, now) && state.probe !== id
  return availabilityOf({ used: usedNow(state, now), failures, cooledUntil, lastErrorAt, probing }, limits, now)
}

/** Whether a probe may start before the end of the cooldown: once in an outage. */
export const mayProbeEarly = (state: DeploymentState, now: number) => !state.probed && !probeInFlight(state, now)

function add(state: DeploymentState, more: Used, now: number): void {
  const used = usedNow(state, now)
  if (used === NOTHING) state.minuteEnds = windowEnd('minute', now)
  state.used = sumOf(used, more)
}

const sumOf = (used: Used, more: Used): Readonly<Record<CapacityUnit, number | undefined>> => ({
  requests: sum(used.requests, more.requests),
  tokens: sum(used.tokens, more.tokens),
  images: sum(used.images, more.images),
  audioSeconds: sum(used.audioSeconds, more.audioSeconds),
  characters: sum(used.characters, more.characters),
  rerankUnits: sum(used.rerankUnits, more.rerankUnits),
})

/** undefined for nothing, as a unit that is not used is left out. */
const sum = (used = 0, more = 0) => used + more || undefined

/** Whether anything is used. */
function isAny(used: Used): boolean {
  for (const unit in used) if (used[unit as CapacityUnit]) return true
  return false
}

const ONE_REQUEST: Used = { requests: 1 }

export function reserve(
  state: DeploymentState,
  attemptId: string,
  leaseEnd: number,
  probes: boolean,
  now: number,
): void {
  add(state, ONE_REQUEST, now)
  state.active.add(attemptId, now, probes ? Math.min(leaseEnd, now + milliseconds(PROBE_SECONDS)) : leaseEnd)
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
  if (unusedSince === undefined || !isRunning(state, now)) return false
  return windowEnd('minute', unusedSince) >= state.minuteEnds && state.active.has(attemptId, now)
}

const withoutRequest = (used: Used): Used => ({
  ...used,
  requests: Math.max(0, (used.requests ?? 0) - 1) || undefined,
})

/** Ends an outage: the deployment serves calls again, and its failures are reset. */
function recover(state: DeploymentState): void {
  state.failures = 0
  state.cooledUntil = 0
  state.probed = false
  state.probe = ''
}

/** What a repeated settlement does to a deployment: it releases the place of an attempt that has ended. */
export function onlyReleased(outcome: DeploymentOutcome): DeploymentOutcome | undefined {
  return outcome.result === 'committed' ? undefined : { ...outcome, result: 'neutral', used: {} }
}

/** Records an outcome. Returns whether it cooled the deployment, which was not cooled before. */
export function finish(state: DeploymentState, outcome: DeploymentOutcome, now: number): boolean {
  const { attemptId, result } = outcome
  const continues = result === 'committed'
  if (isRefundable(state, outcome, now)) state.used = withoutRequest(state.used)
  if (!continues) state.active.remove(attemptId)
  if (isAny(outcome.used)) add(state, outcome.used, now)
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
