import type { Budget } from '../../stores/kv/shared-store.ts'
import type { BudgetPeriod } from '../../stores/sql/records/budget-records.ts'

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
