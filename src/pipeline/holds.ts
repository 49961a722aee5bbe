import type { Account } from '../limits/accounts.ts'
import type { Registry } from '../routing/registry.ts'
import type { Budget } from '../stores/kv/shared-store.ts'
import type { BudgetPeriod } from '../stores/sql/budget-records.ts'
import type { Seeds } from './admit.ts'
import type { Caller } from './caller.ts'
import { type ExpectedCost, NO_COST } from './expected-cost.ts'

/** Money that a call holds until it is settled. */
export interface Hold extends BudgetPeriod {
  readonly holdNano: number
  /** Another call like this one might not fit beside it. */
  readonly alone: boolean
}

/** What a refusal names, and a warning. */
export interface AskedBudget extends Budget {
  readonly softNano: number | undefined
}

/** A budget that refuses nobody, whose soft limit wants to be told of. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER

/** The accounts of a caller that a call to this group is charged to: a budget for a model holds by each of its names. */
export function chargedAccounts({ resolve }: Registry, { accounts }: Caller, group: string): readonly Account[] {
  // Few have a budget for a single model.
  if (accounts.every(({ model }) => model === undefined)) return accounts
  return accounts.filter(({ model }) => model === undefined || model === group || resolve(model)?.name === group)
}

/** The budgets among them, each with what the call is expected to cost. */
export function budgetsOf(
  accounts: readonly Account[],
  costs: (account: Account) => ExpectedCost,
  now: number,
  seeds: Seeds,
): AskedBudget[] {
  const budgets: AskedBudget[] = []
  for (const account of accounts) {
    const { scope, subject, limitNano = NO_LIMIT, softNano, periodAt } = account
    if (limitNano === NO_LIMIT && softNano === undefined) continue
    // What refuses nobody needs no hold, and is not filled by one.
    const { holdNano, likelyNano } = limitNano === NO_LIMIT ? NO_COST : costs(account)
    const period = periodAt(now)
    const seed = seeds.get(subject)
    const seedNano = seed?.period === period ? seed.spentNano : undefined
    budgets.push({ scope, subject, limitNano, softNano, holdNano, likelyNano, period, seedNano })
  }
  return budgets
}

/** What a call holds of budgets that had room for it. */
export function holdsOf(budgets: readonly AskedBudget[], spentNano: readonly number[]): Hold[] {
  return budgets.map(({ subject, period, holdNano, limitNano }, index) => {
    const alone = holdNano > 0 && (spentNano[index] ?? 0) + 2 * holdNano > limitNano
    return { subject, period, holdNano, alone }
  })
}

/** Whether the next call of the same caller might be refused for what this one holds. */
export function crowds({
  slots,
  holds,
}: {
  readonly slots: readonly string[]
  readonly holds: readonly Hold[]
}): boolean {
  return slots.length > 0 || holds.some(({ alone }) => alone)
}
