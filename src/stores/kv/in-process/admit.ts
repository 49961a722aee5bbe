import {
  type Candidate,
  type Capacity,
  type DeploymentSignals,
  type Reservation,
  rankBy,
} from '../deployment-signals.ts'
import { LIFETIME_MS } from '../keys.ts'
import type { Admission, Admitted, Budget, QuotaStates, Refused, Stale } from '../shared-store.ts'
import { milliseconds } from '../windows.ts'
import { type Budgets, fullBudget, holdBudgets, isCurrent, readBudgets, spentBudget } from './budgets.ts'
import type { CountedQuotas } from './counters.ts'
import { availability, type DeploymentState, reserve, signalsOf, unknownDeployment } from './deployment-state.ts'
import type { Entry } from './expiring-map.ts'
import { lookUp, takeLead } from './leads.ts'
import { createLeases } from './leases.ts'
import { countedQuotasOf, countQuotas, fullQuota, readQuotas } from './quotas.ts'
import { deploymentExpiresAt, leasesExpireAt, type State } from './state.ts'

/** Decides a call: everything is checked before anything is written. `scripts/admit.ts` implements it in Lua. */
export function admit(state: State, call: Admission, now: number): Admitted | Refused | Stale {
  const budgets = readBudgets(state, call.budgets, now)
  const stale = findStale(state, call, budgets, now)
  if (stale) return stale

  const counted = countedQuotasOf(state, call.quotas)
  const quotas = readQuotas(state, counted, now)
  const early = checkQuotas(call, counted, quotas) ?? checkSlots(state, call, now)
  const cached = call.cache && !early ? lookUp(state, call.cache, call.callId, now) : undefined
  const reserves = cached?.state !== 'hit' && cached?.state !== 'follow'
  const refused = early ?? checkBudgets(call, budgets, now, reserves)
  if (refused) return { kind: 'refused', now, ...refused, quotas }

  const leaseEnd = now + milliseconds(call.leaseSeconds)
  for (const { record, version } of call.versions) {
    if (version > (state.versions.get(record) ?? 0)) state.versions.set(record, version, now + LIFETIME_MS.version)
  }
  countQuotas(state, counted, quotas, call.tokens, now)
  const { spentNano } = budgets
  if (!reserves) return { kind: 'admitted', now, quotas, spentNano, reserved: undefined, signals: [], cached }
  if (call.cache && cached?.state === 'lead') takeLead(state, call.cache, call.callId, now)
  for (const { subject } of call.slots) takeSlot(state, subject, call.callId, now, leaseEnd)
  holdBudgets(state, call, budgets, now, leaseEnd)
  const signals = new Array<DeploymentSignals>(call.candidates.length)
  const reserved = reservePreferred(state, call, now, leaseEnd, signals)
  const decided = { kind: 'admitted', now, quotas, spentNano, reserved, signals } as const
  return cached ? { ...decided, cached } : decided
}

const NONE: readonly string[] = []

function findStale(state: State, call: Admission, { found }: Budgets, now: number): Stale | undefined {
  let records = NONE
  let budgets = NONE
  for (const { record, version, remembered } of call.versions) {
    const known = state.versions.get(record)
    const stale = known === undefined ? remembered && version > 0 : known > version
    if (stale) records = [...records, record]
  }
  for (let index = 0; index < call.budgets.length; index++) {
    const budget = call.budgets[index] as Budget
    if (budget.seedNano === undefined && !isCurrent(found[index], budget, now)) budgets = [...budgets, budget.subject]
  }
  return records === NONE && budgets === NONE ? undefined : { kind: 'stale', now, records, budgets }
}

/** The reason for which a check refuses a call. */
type Refusal = Pick<Refused, 'reason' | 'scope' | 'subject' | 'resetsAt' | 'spentNano'>

function checkQuotas(call: Admission, counted: CountedQuotas, states: QuotaStates): Refusal | undefined {
  const at = fullQuota(counted, states, call.tokens)
  const quota = call.quotas[at]
  return quota && { reason: 'quota', scope: quota.scope, subject: quota.subject, resetsAt: states.resetsAt[at] }
}

function checkSlots(state: State, call: Admission, now: number): Refusal | undefined {
  for (const { scope, subject, limit } of call.slots) {
    const leases = state.slots.get(subject)
    const taken = leases?.count(now) ?? 0
    if (taken >= limit && taken - (leases?.has(call.callId, now) ? 1 : 0) >= limit) {
      return { reason: 'slot', scope, subject, resetsAt: undefined }
    }
  }
}

/** A call that reserves nothing costs nothing either. */
function checkBudgets(call: Admission, budgets: Budgets, now: number, reserves: boolean): Refusal | undefined {
  const at = reserves ? fullBudget(call, budgets, now) : spentBudget(call, budgets)
  const budget = call.budgets[at]
  if (!budget) return undefined
  const { scope, subject } = budget
  return { reason: 'budget', scope, subject, resetsAt: undefined, spentNano: budgets.spentNano[at] as number }
}

/** Adds a lease to those of a subject, which are kept until the last one ends. */
function takeSlot(state: State, subject: string, callId: string, now: number, end: number): void {
  const expiresAt = leasesExpireAt(now, end)
  const entry = state.slots.entry(subject) ?? state.slots.put(subject, createLeases(), expiresAt)
  entry.value.add(callId, now, end)
  entry.expiresAt = expiresAt
}

/** Reserves the preferred one of the free candidates, and notes the signals of all of them from before. */
function reservePreferred(
  state: State,
  { candidates, preference, attemptId }: Admission,
  now: number,
  leaseEnd: number,
  signals: DeploymentSignals[],
): Reservation | undefined {
  let chosen: Candidate | undefined
  let place: Entry<DeploymentState> | undefined
  let best = Number.POSITIVE_INFINITY
  let probe = false
  for (let index = 0; index < candidates.length; index++) {
    const candidate = candidates[index] as Candidate
    const found = state.deployments.entry(candidate.deployment)
    const known = found?.value ?? UNKNOWN
    const current = signalsOf(candidate.deployment, known, now)
    signals[index] = current
    if (chosen && !preference) continue
    const available = availability(known, candidate, attemptId, now)
    if (available !== 'free' && available !== 'half-open') continue
    const rank = preference ? rankBy(preference, current, candidate.capacity ?? NO_LIMITS, now) : 0
    if (chosen && rank >= best) continue
    chosen = candidate
    place = found
    best = rank
    probe = available === 'half-open'
  }
  if (!chosen) return undefined
  const { deployment } = chosen
  place ??= state.deployments.put(deployment, unknownDeployment(), now + LIFETIME_MS.deployment)
  reserve(place.value, attemptId, leaseEnd, probe, now)
  place.expiresAt = deploymentExpiresAt(place.value, now)
  return { deployment, at: now, probe }
}

const NO_LIMITS: Capacity = {}

/** Never written to. */
const UNKNOWN: DeploymentState = unknownDeployment()
