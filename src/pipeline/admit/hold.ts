import type { Budget } from '../../stores/kv/shared-store.ts'
import type { BudgetPeriod } from '../../stores/sql/records/budget-records.ts'

/** Budget that a call holds until it is settled. */
export interface Hold extends BudgetPeriod {
  readonly holdNano: number
  /** The budget may have no room for another call like this one. */
  readonly alone: boolean
}

/** Whether a budget that has spent this has no room for the call's likely cost, whatever other calls hold. */
export function isExceededBy({ limitNano, holdNano, likelyNano = holdNano }: Budget, spentNano: number): boolean {
  return spentNano >= limitNano || spentNano + likelyNano > limitNano
}

/** A budget as admission checks it, with its soft limit. */
export interface AskedBudget extends Budget {
  readonly softNano: number | undefined
}

/** The budgets that a call asked, and what each had spent then. */
export interface SpentBefore {
  readonly budgets: readonly AskedBudget[]
  readonly spentNano: readonly number[]
}

/** The same, if one of the budgets has a soft limit. */
export function withSoftLimit(budgets: readonly AskedBudget[], spentNano: readonly number[]): SpentBefore | undefined {
  return budgets.some(hasSoftLimit) ? { budgets, spentNano } : undefined
}

const hasSoftLimit = ({ softNano }: AskedBudget) => softNano !== undefined
