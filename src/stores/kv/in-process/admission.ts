import {
  type Candidate,
  type Capacity,
  type DeploymentSignals,
  type Reservation,
  rankBy,
} from '../deployment-signals.ts'
import { LIFETIME_MS } from '../keys.ts'
import type {
  Admission,
  Admitted,
  Budget,
  Limits,
  Quota,
  QuotaStates,
  Refused,
  Stale,
  Standing,
} from '../shared-store.ts'
import { isOpen, milliseconds, windowEnd } from '../windows.ts'
import { availability, type DeploymentState, reserve, signalsOf, unknownDeployment } from './deployment-state.ts'
import { lookUp, takeLead } from './leads.ts'
import { createLeases, type Leases } from './leases.ts'
import { addLease, type BudgetRecord, type Counter, deploymentExpiresAt, holdId, holdIds, type State } from './state.ts'

/** Decides a call: everything is checked before anything is written. `scripts/admit.ts` implements it in Lua. */
export function admit(state: State, call: Admission, now: number): Admitted | Refused | Stale {
  const stale = findStale(state, call)
  if (stale) return stale

  const quotas = readQuotas(state, call, now)
  const budgets = readBudgets(state, call)
  const early = checkQuotas(call, quotas) ?? checkSlots(state, call, now)
  const cached = call.cache && !early ? lookUp(state, call.cache, call.callId, now) : undefined
  const reserves = cached?.state !== 'hit' && cached?.state !== 'follow'
  const refused = early ?? (reserves ? checkBudgets(call, budgets, now) : checkSpent(call, budgets))
  if (refused) return { kind: 'refused', now, ...refused, quotas }

  const leaseEnd = now + milliseconds(call.leaseSeconds)
  for (const { record, version } of call.versions) {
    if (version > (state.versions.get(record) ?? 0)) state.versions.set(record, version, now + LIFETIME_MS.version)
  }
  countQuotas(state, call, now, quotas)
  const { spentNano } = budgets
  if (!reserves) return { kind: 'admitted', now, quotas, spentNano, reserved: undefined, signals: [], cached }
  if (call.cache && cached?.state === 'lead') takeLead(state, call.cache, call.callId, now)
  for (const { subject } of call.slots) addLease(state, subject, call.callId, now, leaseEnd)
  hold(state, call, budgets, now, leaseEnd)
  const signals: DeploymentSignals[] = []
  const reserved = reservePreferred(state, call, now, leaseEnd, signals)
  const decided = { kind: 'admitted', now, quotas, spentNano, reserved, signals } as const
  return cached ? { ...decided, cached } : decided
}

/** `scripts/standing.ts` implements it in Lua. */
export function standing(state: State, limits: Limits, now: number): Standing {
  return {
    now,
    quotas: readQuotas(state, limits, now),
    taken: limits.slots.map((subject) => state.slots.get(subject)?.count(now) ?? 0),
    budgets: limits.budgets.map((subject) => {
      const known = state.budgets.get(subject)
      return known && { period: known.period, spentNano: known.spent, heldNano: known.holds.total(now) }
    }),
  }
}

const NONE: readonly string[] = []

function findStale(state: State, call: Admission): Stale | undefined {
  let records = NONE
  let budgets = NONE
  for (const { record, version, remembered } of call.versions) {
    const known = state.versions.get(record)
    const stale = known === undefined ? remembered && version > 0 : known > version
    if (stale) records = [...records, record]
  }
  for (const { subject, seedNano } of call.budgets) {
    if (seedNano === undefined && !state.budgets.get(subject)) budgets = [...budgets, subject]
  }
  return records === NONE && budgets === NONE ? undefined : { kind: 'stale', records, budgets }
}

/** The reason for which a check refuses a call. */
type Refusal = Pick<Refused, 'reason' | 'scope' | 'subject' | 'resetsAt' | 'spentNano'>

const WINDOWS = { minute: 0, hour: 1, day: 2 } as const
const counterIndex = ({ unit, window }: Quota) => (unit === 'requests' ? 0 : 3) + WINDOWS[window]
const costOf = ({ unit }: Quota, call: Admission) => (unit === 'requests' ? 1 : call.tokens)

/** The quota states that the check reads and the count updates in place. */
interface Counts extends QuotaStates {
  readonly used: number[]
  readonly resetsAt: number[]
}

function readQuotas(state: State, { quotas }: Pick<Admission, 'quotas'>, now: number): Counts {
  const used = new Array<number>(quotas.length)
  const resetsAt = new Array<number>(quotas.length)
  let subject: string | undefined
  let counters: Counter[] | undefined
  for (let index = 0; index < quotas.length; index++) {
    const quota = quotas[index] as Quota
    // Quotas of one subject come one after the other.
    if (quota.subject !== subject) {
      subject = quota.subject
      counters = state.quotas.get(subject)
    }
    const counter = counters?.[counterIndex(quota)]
    const isCurrent = counter !== undefined && isOpen(quota.window, counter.ends, now)
    used[index] = isCurrent ? counter.used : 0
    resetsAt[index] = isCurrent ? counter.ends : windowEnd(quota.window, now)
  }
  return { used, resetsAt }
}

function checkQuotas(call: Admission, { used, resetsAt }: Counts): Refusal | undefined {
  for (let index = 0; index < call.quotas.length; index++) {
    const quota = call.quotas[index] as Quota
    const { scope, subject, limit } = quota
    if (limit <= 0 || (used[index] as number) + costOf(quota, call) > limit) {
      return { reason: 'quota', scope, subject, resetsAt: resetsAt[index] }
    }
  }
}

function countQuotas(state: State, call: Admission, now: number, { used, resetsAt }: Counts): void {
  let subject: string | undefined
  let counters: Counter[] = []
  for (let index = 0; index < call.quotas.length; index++) {
    const quota = call.quotas[index] as Quota
    if (quota.subject !== subject) {
      subject = quota.subject
      counters = state.quotas.get(subject) ?? []
      state.quotas.set(subject, counters, now + LIFETIME_MS.quota)
    }
    const counted = (used[index] as number) + costOf(quota, call)
    const ends = resetsAt[index] as number
    used[index] = counted
    const at = counterIndex(quota)
    const counter = counters[at]
    if (!counter) counters[at] = { used: counted, ends }
    else {
      counter.used = counted
      counter.ends = ends
    }
  }
}

function checkSlots(state: State, call: Admission, now: number): Refusal | undefined {
  for (const { scope, subject, limit } of call.slots) {
    const leases = state.slots.get(subject)
    const occupied = leases ? leases.count(now) - (leases.has(call.callId, now) ? 1 : 0) : 0
    if (occupied >= limit) return { reason: 'slot', scope, subject, resetsAt: undefined }
  }
}

/** The budgets of a call as they are known, in its order. */
interface Budgets {
  readonly known: readonly (BudgetRecord | undefined)[]
  readonly spentNano: readonly number[]
  readonly holdIds: readonly string[]
}

function readBudgets(state: State, { callId, budgets }: Admission): Budgets {
  const known: (BudgetRecord | undefined)[] = []
  const spentNano: number[] = []
  for (const { subject, period, seedNano } of budgets) {
    const record = state.budgets.get(subject)
    known.push(record)
    spentNano.push(!record || period > record.period ? (seedNano ?? 0) : record.spent)
  }
  return { known, spentNano, holdIds: holdIds(callId, budgets) }
}

function checkBudgets(call: Admission, { known, spentNano, holdIds }: Budgets, now: number): Refusal | undefined {
  for (let index = 0; index < call.budgets.length; index++) {
    const { scope, subject, limitNano, holdNano, likelyNano = holdNano, ownNano } = call.budgets[index] as Budget
    const holds = known[index]?.holds
    const again = holds?.amount(holdIds[index] as string, now) ?? 0
    const own = holds && ownNano ? ownHolds(holds, call.callId, ownNano, now) : 0
    const others = (holds?.total(now) ?? 0) - again - own
    const spent = spentNano[index] as number
    const committed = spent + others
    if (committed >= limitNano || committed + (others > 0 ? own + holdNano : likelyNano) > limitNano) {
      return { reason: 'budget', scope, subject, resetsAt: undefined, spentNano: spent }
    }
  }
}

/** Of a call that costs nothing. */
function checkSpent(call: Admission, { spentNano }: Budgets): Refusal | undefined {
  for (let index = 0; index < call.budgets.length; index++) {
    const { scope, subject, limitNano } = call.budgets[index] as Budget
    const spent = spentNano[index] as number
    if (spent >= limitNano) return { reason: 'budget', scope, subject, resetsAt: undefined, spentNano: spent }
  }
}

/** The sum of the call's own holds that have not expired. */
function ownHolds(holds: Leases, callId: string, amounts: readonly number[], now: number): number {
  return amounts.reduce((sum, amount) => sum + holds.amount(holdId(callId, amount), now), 0)
}

function hold(
  state: State,
  call: Admission,
  { known, spentNano, holdIds }: Budgets,
  now: number,
  leaseEnd: number,
): void {
  for (let index = 0; index < call.budgets.length; index++) {
    const { subject, period, holdNano } = call.budgets[index] as Budget
    const spent = spentNano[index] as number
    const record = known[index] ?? { spent, period, readAt: now, holds: createLeases() }
    record.spent = spent
    if (period > record.period) record.period = period
    if (holdNano > 0) record.holds.add(holdIds[index] as string, now, leaseEnd, holdNano)
    state.budgets.set(subject, record, now + LIFETIME_MS.budget)
  }
}

/** Reserves the preferred one of the free candidates, and appends the signals of all of them from before. */
function reservePreferred(
  state: State,
  { candidates, preference, attemptId }: Admission,
  now: number,
  leaseEnd: number,
  signals: DeploymentSignals[],
): Reservation | undefined {
  let chosen: Candidate | undefined
  let best = Number.POSITIVE_INFINITY
  let probe = false
  for (const candidate of candidates) {
    const known = state.deployments.get(candidate.deployment) ?? UNKNOWN
    const current = signalsOf(candidate.deployment, known, now)
    signals.push(current)
    if (chosen && !preference) continue
    const available = availability(known, candidate, attemptId, now)
    if (available !== 'free' && available !== 'half-open') continue
    const rank = preference ? rankBy(preference, current, candidate.capacity ?? NO_LIMITS, now) : 0
    if (chosen && rank >= best) continue
    chosen = candidate
    best = rank
    probe = available === 'half-open'
  }
  if (!chosen) return undefined
  const { deployment } = chosen
  const reserved = state.deployments.get(deployment) ?? unknownDeployment()
  reserve(reserved, attemptId, leaseEnd, probe, now)
  state.deployments.set(deployment, reserved, deploymentExpiresAt(reserved, now))
  return { deployment, at: now, probe }
}

const NO_LIMITS: Capacity = {}

/** Never written to. */
const UNKNOWN: DeploymentState = unknownDeployment()
