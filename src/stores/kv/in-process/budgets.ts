import { LIFETIME_MS } from '../keys.ts'
import type { Admission, Budget } from '../shared-store.ts'
import { isYetToBegin } from '../windows.ts'
import type { Entry } from './expiring-map.ts'
import { createLeases, type Leases } from './leases.ts'
import type { BudgetRecord, State } from './state.ts'

/** The budgets of a call as they are known, in its order. */
export interface Budgets {
  readonly found: readonly (Entry<BudgetRecord> | undefined)[]
  readonly spentNano: readonly number[]
}

type Period = Pick<Budget, 'period' | 'since'>

/** Whether a period without end is over, which this store has missed: another one has begun since. */
const isOutlived = (known: Period, { period, since = '' }: Period): boolean =>
  period === known.period && known.since !== undefined && since > known.since

/** Whether it is known what a budget has spent in the period that is asked for, or in a later one that has begun. */
const isRead = (entry: Entry<BudgetRecord> | undefined, asked: Period, now: number): entry is Entry<BudgetRecord> =>
  entry !== undefined &&
  !entry.value.isUnread &&
  !isOutlived(entry.value, asked) &&
  (asked.period >= entry.value.period || !isYetToBegin(entry.value.period, now))

/** Whether a budget can be asked without its seed: what it has spent is known, and no clock but the store's says that it is
 *  another period's time. */
export function isCurrent(entry: Entry<BudgetRecord> | undefined, asked: Period, now: number): boolean {
  if (!entry || entry.value.isUnread || isOutlived(entry.value, asked)) return false
  const { period } = asked
  const { period: known } = entry.value
  return period === known || (period > known && !isYetToBegin(period, now))
}

/** Whether a call is the first of a period. What other calls hold then, the periods pay in which they began. */
const begins = (entry: Entry<BudgetRecord> | undefined, budget: Budget, now: number): boolean =>
  isRead(entry, budget, now) && budget.period > entry.value.period && !isYetToBegin(budget.period, now)

/** Forgets what a budget has spent. What running calls hold of it counts when it is read again. */
export function forgetBudget(state: State, subject: string, now: number): void {
  const record = state.budgets.get(subject)
  if (record && record.holds.count(now) > 0) record.isUnread = true
  else state.budgets.delete(subject)
}

export function readBudgets(state: State, budgets: readonly Budget[], now: number): Budgets {
  const found = new Array<Entry<BudgetRecord> | undefined>(budgets.length)
  const spentNano = new Array<number>(budgets.length)
  for (let index = 0; index < budgets.length; index++) {
    const budget = budgets[index] as Budget
    const { subject, period, seedNano } = budget
    const entry = state.budgets.entry(subject)
    found[index] = entry
    spentNano[index] = !isRead(entry, budget, now) || period > entry.value.period ? (seedNano ?? 0) : entry.value.spent
  }
  return { found, spentNano }
}

/** The index of the first budget that has no room for a call; -1 if there is none. */
export function fullBudget({ callId, budgets }: Admission, { found, spentNano }: Budgets, now: number): number {
  for (let index = 0; index < budgets.length; index++) {
    const budget = budgets[index] as Budget
    const entry = found[index]
    const holds = begins(entry, budget, now) ? undefined : entry?.value.holds
    const spent = spentNano[index] as number
    if (!hasRoom(budget, spent + (holds?.total(now) ?? 0)) && !hasRoomForCall(budget, callId, spent, holds, now))
      return index
  }
  return -1
}

/** Whether a call fits beside all that is spent and held, whoever holds it. */
function hasRoom({ limitNano, holdNano, likelyNano = holdNano }: Budget, committed: number): boolean {
  return committed < limitNano && committed + Math.max(holdNano, likelyNano) <= limitNano
}

/** Whether a call fits that may have holds itself. */
function hasRoomForCall(
  { limitNano, holdNano, likelyNano = holdNano, ownNano = NOTHING }: Budget,
  callId: string,
  spent: number,
  holds: Leases | undefined,
  now: number,
): boolean {
  const held = (amount: number) => (holds?.has(callId, now, amount) ? amount : 0)
  const own = ownNano.reduce((sum, amount) => sum + held(amount), 0)
  const others = (holds?.total(now) ?? 0) - held(holdNano) - own
  const committed = spent + others
  return committed < limitNano && committed + (others > 0 ? own + holdNano : likelyNano) <= limitNano
}

const NOTHING: readonly number[] = []

/** The index of the first budget that is spent, for a call that costs nothing; -1 if there is none. */
export function spentBudget({ budgets }: Admission, { spentNano }: Budgets): number {
  return budgets.findIndex(({ limitNano }, index) => (spentNano[index] as number) >= limitNano)
}

export function holdBudgets(
  state: State,
  { callId, budgets }: Admission,
  { found, spentNano }: Budgets,
  now: number,
  leaseEnd: number,
): void {
  const expiresAt = now + LIFETIME_MS.budget
  for (let index = 0; index < budgets.length; index++) {
    const budget = budgets[index] as Budget
    const { subject, period, since, holdNano } = budget
    const spent = spentNano[index] as number
    const entry =
      found[index] ??
      state.budgets.put(subject, { spent, period, since, readAt: now, holds: createLeases() }, expiresAt)
    const record = entry.value
    if (begins(entry, budget, now)) record.holds = createLeases()
    record.spent = spent
    if (!isRead(entry, budget, now)) {
      record.period = period
      record.since = since
      record.readAt = now
      record.shortSince = undefined
      record.isUnread = undefined
    } else if (period > record.period) record.period = period
    if (holdNano > 0) record.holds.add(callId, now, leaseEnd, holdNano)
    entry.expiresAt = expiresAt
  }
}
