import type { BudgetRecords } from '../stores/sql/records/budget-records.ts'
import type { Delivery } from './delivery/delivery.ts'
import { ledger } from './ledger.ts'

/** How long the spend of a budget waits for the rows of its calls. */
const ROWS_MS = 500

/** What budgets have spent, with the calls whose rows still wait in this process: those are written first. */
export function spentSoFar(
  records: Pick<BudgetRecords, 'spent'>,
  { written }: Pick<Delivery, 'written'>,
): Pick<BudgetRecords, 'spent'> {
  return {
    async spent(of) {
      const subjects = new Set(of.map(({ subject }) => subject))
      await written?.(ledger, ({ charges }) => charges.some(({ subject }) => subjects.has(subject)), ROWS_MS)
      return records.spent(of)
    },
  }
}
