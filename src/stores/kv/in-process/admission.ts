import { LIFETIME_MS } from '../keys.ts'
import type { Admission, Admitted, Budget, Quota, QuotaStates, Refused, Stale } from '../shared-store.ts'
import { milliseconds, windowEnd } from '../windows.ts'
import { availability, type DeploymentState, reserve, signalsOf, unknownDeployment } from './deployment-state.ts'
import { createLeases } from './leases.ts'
import { addLease, type Counter, deploymentExpiresAt, type State } from './state.ts'

/** Decides a call: everything is checked before anything is written. `scripts/admit.ts` says the same in Lua. */
export function admit(state: State, call: Admission, now: number): Admitted | Refused | Stale {
  const stale = findStale(state, call)
  if (stale) return stale

  const quotas = readQuotas(state, call, now)
  const refused = checkQuotas(call, quotas) ?? checkSlots(state, call, now) ?? checkBudgets(state, call, now)
  if (refused) return { kind: 'refused', now, resetsAt: undefined, ...refused, quotas }

  const leaseEnd = now + milliseconds(call.leaseSeconds)
  for (const { record, version } of call.versions) {
    if (version > (state.versions.get(record) ?? 0)) state.versions.set(record, version, now + LIFETIME_MS.version)
  }
  countQuotas(state, call, now, quotas)
  const spentNano = call.budgets.map((budget) => spentBy(state, budget))
  for (const { subject } of call.slots) addLease(state, subject, call.callId, now, leaseEnd)
  for (const budget of call.budgets) hold(state, call.callId, budget, now, leaseEnd)
  return { kind: 'admitted', now, quotas, spentNano, ...reserveFirst(state, call, now, leaseEnd) }
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

/** What a check finds against a call. */
type Objection = Pick<Refused, 'reason' | 'scope'> & Partial<Pick<Refused, 'resetsAt'>>

const WINDOWS = { minute: 0, hour: 1, day: 2 } as const
const counterIndex = ({ unit, window }: Quota) => (unit === 'requests' ? 0 : 3) + WINDOWS[window]
const costOf = ({ unit }: Quota, call: Admission) => (unit === 'requests' ? 1 : call.tokens)

/** What the check reads, counting changes in place. */
interface Counts extends QuotaStates {
  readonly used: number[]
  readonly resetsAt: number[]
}

function readQuotas(state: State, { quotas }: Admission, now: number): Counts {
  const used: number[] = []
  const resetsAt: number[] = []
  let subject: string | undefined
  let counters: Counter[] | undefined
  for (const quota of quotas) {
    // Quotas of one subject come one after the other.
    if (quota.subject !== subject) {
      subject = quota.subject
      counters = state.quotas.get(subject)
    }
    const counter = counters?.[counterIndex(quota)]
    const runs = counter !== undefined && counter.ends > now
    used.push(runs ? counter.used : 0)
    resetsAt.push(runs ? counter.ends : windowEnd(quota.window, now))
  }
  return { used, resetsAt }
}

function checkQuotas(call: Admission, { used, resetsAt }: Counts): Objection | undefined {
  for (let index = 0; index < call.quotas.length; index++) {
    const quota = call.quotas[index] as Quota
    const { scope, limit } = quota
    if (limit <= 0 || (used[index] as number) + costOf(quota, call) > limit) {
      return { reason: 'quota', scope, resetsAt: resetsAt[index] }
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

function checkSlots(state: State, call: Admission, now: number): Objection | undefined {
  for (const { scope, subject, limit } of call.slots) {
    const leases = state.slots.get(subject)
    const taken = leases ? leases.count(now) - (leases.has(call.callId, now) ? 1 : 0) : 0
    if (taken >= limit) return { reason: 'slot', scope }
  }
}

const holdId = (callId: string, holdNano: number) => `${callId}|${holdNano}`

function spentBy(state: State, budget: Budget): number {
  const record = state.budgets.get(budget.subject)
  if (!record || budget.period > record.period) return budget.seedNano ?? 0
  return record.spent
}

function checkBudgets(state: State, call: Admission, now: number): Objection | undefined {
  for (const budget of call.budgets) {
    const { scope, limitNano, holdNano, likelyNano = holdNano } = budget
    const holds = state.budgets.get(budget.subject)?.holds
    const own = holds?.amount(holdId(call.callId, holdNano), now) ?? 0
    const others = (holds?.total(now) ?? 0) - own
    const owed = spentBy(state, budget) + others
    if (owed >= limitNano || owed + (others > 0 ? holdNano : likelyNano) > limitNano) return { reason: 'budget', scope }
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
  const available = call.candidates.map((candidate, index) =>
    availability(known[index] as DeploymentState, candidate, call.attemptId, now),
  )
  const index = available.findIndex((one) => one === 'free' || one === 'half-open')
  const chosen = known[index]
  const reserved = call.candidates[index]?.deployment
  if (!chosen || reserved === undefined) return { reserved: undefined, signals }
  reserve(chosen, call.attemptId, leaseEnd, available[index] === 'half-open', now)
  state.deployments.set(reserved, chosen, deploymentExpiresAt(chosen, now))
  return { reserved, signals }
}
