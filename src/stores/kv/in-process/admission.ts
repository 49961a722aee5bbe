import { LIFETIME_MS } from '../keys.ts'
import type { Admission, Admitted, Budget, Quota, QuotaState, Refused, Stale } from '../shared-store.ts'
import { milliseconds, windowEnd } from '../windows.ts'
import {
  availability,
  type DeploymentState,
  mayProbeEarly,
  type Probe,
  reserve,
  signalsOf,
  unknownDeployment,
} from './deployment-state.ts'
import { createLeases } from './leases.ts'
import { addLease, type Counter, deploymentExpiresAt, type State } from './state.ts'

/** Decides a call: everything is checked before anything is written. `scripts/admit.ts` says the same in Lua. */
export function admit(state: State, call: Admission, now: number): Admitted | Refused | Stale {
  const stale = findStale(state, call)
  if (stale) return stale

  const quotas: QuotaState[] = []
  const refused =
    checkQuotas(state, call, now, quotas) ?? checkSlots(state, call, now) ?? checkBudgets(state, call, now)
  if (refused) return refused

  const leaseEnd = now + milliseconds(call.leaseSeconds)
  for (const { record, version } of call.versions) {
    if (version > (state.versions.get(record) ?? 0)) state.versions.set(record, version, now + LIFETIME_MS.version)
  }
  countQuotas(state, call, now, quotas)
  for (const { subject } of call.slots) addLease(state, subject, call.callId, now, leaseEnd)
  for (const budget of call.budgets) hold(state, call.callId, budget, now, leaseEnd)
  return { kind: 'admitted', now, quotas, ...reserveFirst(state, call, now, leaseEnd) }
}

const NONE: readonly string[] = []

function findStale(state: State, call: Admission): Stale | undefined {
  let records = NONE
  let budgets = NONE
  for (const { record, version } of call.versions) {
    if ((state.versions.get(record) ?? 0) > version) records = [...records, record]
  }
  for (const { subject, seedNano } of call.budgets) {
    if (seedNano === undefined && !state.budgets.get(subject)) budgets = [...budgets, subject]
  }
  return records === NONE && budgets === NONE ? undefined : { kind: 'stale', records, budgets }
}

const refusal = (now: number, reason: Refused['reason'], scope: string, resetsAt?: number): Refused => ({
  kind: 'refused',
  now,
  reason,
  scope,
  resetsAt,
})

const WINDOWS = { minute: 0, hour: 1, day: 2 } as const
const counterIndex = ({ unit, window }: Quota) => (unit === 'requests' ? 0 : 3) + WINDOWS[window]

function checkQuotas(state: State, call: Admission, now: number, counted: QuotaState[]): Refused | undefined {
  let subject: string | undefined
  let counters: Counter[] | undefined
  for (const quota of call.quotas) {
    // Quotas of one subject come one after the other.
    if (quota.subject !== subject) {
      subject = quota.subject
      counters = state.quotas.get(subject)
    }
    const counter = counters?.[counterIndex(quota)]
    const running = counter !== undefined && counter.ends > now
    const used = (running ? counter.used : 0) + quota.cost
    const resetsAt = running ? counter.ends : windowEnd(quota.window, now)
    if (quota.limit <= 0 || used > quota.limit) return refusal(now, 'quota', quota.scope, resetsAt)
    counted.push({ scope: quota.scope, unit: quota.unit, limit: quota.limit, used, resetsAt })
  }
}

function countQuotas(state: State, call: Admission, now: number, counted: readonly QuotaState[]): void {
  let subject: string | undefined
  let counters: Counter[] = []
  for (let index = 0; index < counted.length; index++) {
    const quota = call.quotas[index] as Quota
    const { used, resetsAt } = counted[index] as QuotaState
    if (quota.subject !== subject) {
      subject = quota.subject
      counters = state.quotas.get(subject) ?? []
      state.quotas.set(subject, counters, now + LIFETIME_MS.quota)
    }
    counters[counterIndex(quota)] = { used, ends: resetsAt }
  }
}

function checkSlots(state: State, call: Admission, now: number): Refused | undefined {
  for (const { scope, subject, limit } of call.slots) {
    const leases = state.slots.get(subject)
    const taken = leases ? leases.count(now) - (leases.has(call.callId, now) ? 1 : 0) : 0
    if (taken >= limit) return refusal(now, 'slot', scope)
  }
}

const holdId = (callId: string, holdNano: number) => `${callId}|${holdNano}`

function spentBy(state: State, budget: Budget): number {
  const record = state.budgets.get(budget.subject)
  if (!record || budget.period > record.period) return budget.seedNano ?? 0
  return record.spent
}

function checkBudgets(state: State, call: Admission, now: number): Refused | undefined {
  for (const budget of call.budgets) {
    const holds = state.budgets.get(budget.subject)?.holds
    const own = holds?.amount(holdId(call.callId, budget.holdNano), now) ?? 0
    const owed = spentBy(state, budget) + (holds?.total(now) ?? 0) - own
    if (owed >= budget.limitNano || owed + budget.holdNano > budget.limitNano) {
      return refusal(now, 'budget', budget.scope)
    }
  }
}

function hold(state: State, callId: string, budget: Budget, now: number, leaseEnd: number): void {
  const spent = spentBy(state, budget)
  const record = state.budgets.get(budget.subject) ?? { spent, period: budget.period, holds: createLeases() }
  record.spent = spent
  if (budget.period > record.period) record.period = budget.period
  if (budget.holdNano > 0) record.holds.add(holdId(callId, budget.holdNano), now, leaseEnd, budget.holdNano)
  state.budgets.set(budget.subject, record, now + LIFETIME_MS.budget)
}

function reserveFirst(
  state: State,
  call: Admission,
  now: number,
  leaseEnd: number,
): Pick<Admitted, 'reserved' | 'signals'> {
  const known = call.candidates.map(({ deployment }) => state.deployments.get(deployment) ?? unknownDeployment())
  const signals = call.candidates.map(({ deployment }, index) =>
    signalsOf(deployment, known[index] as DeploymentState, now),
  )
  const [index, probe] = choose(call, known, now)
  const chosen = known[index]
  const reserved = call.candidates[index]?.deployment
  if (!chosen || reserved === undefined) return { reserved: undefined, signals }
  reserve(chosen, call.attemptId, leaseEnd, probe, now)
  state.deployments.set(reserved, chosen, deploymentExpiresAt(chosen, now))
  return { reserved, signals }
}

/** The first that is free or due for its probe; else an early probe of the one that cools soonest. -1: none. */
function choose(call: Admission, known: readonly DeploymentState[], now: number): readonly [number, Probe] {
  let soonest = -1
  for (const [index, candidate] of call.candidates.entries()) {
    const state = known[index] as DeploymentState
    const available = availability(state, candidate, call.attemptId, now)
    if (available === 'free') return [index, 'none']
    if (available === 'half-open') return [index, 'due']
    if (available !== 'cooled') continue
    const best = known[soonest]
    if (!best || state.cooledUntil < best.cooledUntil) soonest = index
  }
  const best = known[soonest]
  return best && mayProbeEarly(best, call.attemptId, now) ? [soonest, 'early'] : [-1, 'none']
}
