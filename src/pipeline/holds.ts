import type { Account } from '../limits/accounts.ts'
import type { Budget } from '../stores/kv/shared-store.ts'
import type { BudgetPeriod } from '../stores/sql/budget-records.ts'
import type { Caller } from './caller.ts'
import type { ExpectedCost } from './expected-cost.ts'

/** Money that a call holds until it is settled. */
export interface Hold extends BudgetPeriod {
  readonly holdNano: number
}

/** What a refusal names, and a warning. */
export interface AskedBudget extends Budget {
  readonly softNano: number | undefined
}

/** A budget that refuses nobody, whose soft limit wants to be told of. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER

/** The accounts of a caller that a call to this group is charged to. */
export function chargedAccounts({ accounts }: Caller, group: string): Account[] {
  return accounts.filter(({ model }) => model === undefined || model === group)
}

/** The budgets among them, each with what the call is expected to cost. */
export function budgetsOf(
  accounts: readonly Account[],
  cost: ExpectedCost,
  now: number,
  seeds: ReadonlyMap<string, number>,
): AskedBudget[] {
  return accounts.flatMap(({ scope, subject, limitNano, softNano, periodAt }) => {
    if (limitNano === undefined && softNano === undefined) return []
    const seedNano = seeds.get(subject)
    const seed = seedNano === undefined ? {} : { seedNano }
    return [{ scope, subject, limitNano: limitNano ?? NO_LIMIT, softNano, ...cost, period: periodAt(now), ...seed }]
  })
}
