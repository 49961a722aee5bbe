import { describeError, type Log } from '../lib/log.ts'
import { separateTimers, type Timers } from '../lib/timers/timers.ts'
import { SHORT_MS } from '../stores/kv/keys.ts'
import type { SharedStore } from '../stores/kv/shared-store.ts'
import type { BudgetRecords, BudgetSpent } from '../stores/sql/records/budget-records.ts'

/** Tells the shared store what budgets have spent by the ledger. No record waits for that. */
export interface BudgetsRaised {
  raise(spent: readonly BudgetSpent[]): void
  /** Resolves when the store has been told of everything so far, or is away. */
  raised(): Promise<unknown>
}

/** Just after the store may raise them. */
const RAISED_AGAIN_MS = SHORT_MS + 100

export function budgetsRaised({
  log,
  budgets,
  store,
  defer,
  timers,
}: {
  readonly log: Log
  readonly budgets: Pick<BudgetRecords, 'spent'>
  readonly store: Pick<SharedStore, 'raise'>
  readonly defer?: ((work: Promise<void>) => void) | undefined
  readonly timers?: Timers | undefined
}): BudgetsRaised {
  let raised: Promise<unknown> = Promise.resolve()
  const failed = (error: unknown) => log.warn('budgets.not_raised', { error: describeError(error) })

  function raise(spent: readonly BudgetSpent[]): void {
    const raising = store.raise(spent).catch(failed)
    raised = Promise.all([raised, raising])
    const looking = raising.then((short) => (short?.length ? raiseLater(short) : undefined))
    defer?.(looking)
  }

  /** Tells of budgets once more that were below the ledger: it may be long until the next record of them. By then the
   *  ledger may say more, and what it said before may be less than the store's. */
  function raiseLater(short: readonly BudgetSpent[]): Promise<void> | undefined {
    const again = async () => {
      const spent = await budgets.spent(short).catch(failed)
      raise(spent ? short.map((budget, index) => ({ ...budget, spentNano: spent[index] ?? 0 })) : short)
    }
    if (timers) return void timers.after(RAISED_AGAIN_MS, again)
    return new Promise((resolve) => {
      separateTimers.after(RAISED_AGAIN_MS, () => resolve(again()))
    })
  }

  return { raise, raised: () => raised }
}
