import { elapsedMs } from '../../../lib/clock.ts'
import type { BudgetSpent } from '../../sql/records/budget-records.ts'
import { LIFETIME_MS, SHORT_MS } from '../keys.ts'
import type { State } from './state.ts'

/** Brings budgets to what the ledger says, if they have been below it for seconds. Returns the others that are below it.
 *  `scripts/raise.ts` implements it in Lua. */
export function raise(state: State, spent: readonly BudgetSpent[], now: number): readonly BudgetSpent[] {
  const short: BudgetSpent[] = []
  for (const one of spent) {
    const { subject, period, spentNano } = one
    const record = state.budgets.get(subject)
    if (!record || record.isUnread || record.period !== period) continue
    if (spentNano <= record.spent) record.shortSince = undefined
    else if (record.shortSince === undefined) {
      record.shortSince = now
      short.push(one)
    } else if (elapsedMs(record.shortSince, now) >= SHORT_MS) {
      record.spent = spentNano
      record.readAt = now
      record.shortSince = undefined
    } else {
      short.push(one)
      continue
    }
    state.budgets.set(subject, record, now + LIFETIME_MS.budget)
  }
  return short
}
