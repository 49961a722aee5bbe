import { describeError, type Log } from '../../lib/log.ts'
import { ownerOf } from '../../limits/accounts.ts'
import { expiringMap } from '../../stores/kv/in-process/expiring-map.ts'
import type { Budget, Refused, Settlement } from '../../stores/kv/shared-store.ts'
import type { BudgetRecords, PassedLimit } from '../../stores/sql/records/budget-records.ts'
import type { BudgetMoved } from '../../telemetry/notices.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import type { Client } from '../client.ts'
import { type AskedBudget, isExceededBy, type SpentBefore } from './hold.ts'

/** Tells of budgets that pass their soft limit and of those that are exceeded: once a period across all processes, and
 *  once more for another limit. No call waits for it. */
export interface BudgetNotices {
  /** Looks at what the budgets of an admitted call had spent before it, and at its end also at what it was charged. */
  passed(client: Pick<Client, 'defer'>, asked: SpentBefore, charged?: Settlement['budgets']): void
  /** Looks at a refusal: the budget is exceeded if it has no room for the call's likely cost, whatever other calls hold. */
  refused(client: Pick<Client, 'defer'>, budgets: readonly Budget[], refused: Refused): void
}

/** How much of what was told a process remembers. The database has all of it. */
const REMEMBERED_HERE = { budgets: 10_000, ms: 40 * 86_400_000 }

interface Passed {
  readonly passed: PassedLimit
  readonly limitNano: number
}

/** What tells a budget's period from its others: those without end have one name. */
const nameOf = ({ period, since = '' }: Budget): string => period || since

export function budgetNotices(options: {
  readonly records: Pick<BudgetRecords, 'tell'>
  readonly telemetry: Telemetry
  readonly now: () => number
  readonly log: Log
}): BudgetNotices {
  const { records, telemetry, now, log } = options
  const told = expiringMap<true>(now, REMEMBERED_HERE.budgets)

  /** Emits an event unless this or another process has done so. */
  function tellOnce(
    client: Pick<Client, 'defer'>,
    budget: Budget,
    { passed, limitNano }: Passed,
    event: () => BudgetMoved,
  ): void {
    const key = `${passed} ${limitNano} ${nameOf(budget)} ${budget.subject}`
    if (told.get(key)) return
    told.set(key, true, now() + REMEMBERED_HERE.ms)
    client.defer(tell(budget, { passed, limitNano }, event()))
  }

  async function tell(budget: Budget, { passed, limitNano }: Passed, moved: BudgetMoved): Promise<void> {
    try {
      if (!(await records.tell(budget, passed, limitNano))) return
    } catch (error) {
      log.warn('budget.not_remembered', { subject: moved.subject, error: describeError(error) })
    }
    telemetry.emit(moved)
  }

  function factsOf({ scope, subject, period }: Budget, spentNano: number) {
    return { at: new Date(now()).toISOString(), scope, ...ownerOf(subject), subject, period, spentNano }
  }

  return {
    passed(client, { budgets, spentNano }, charged = []) {
      for (let index = 0; index < budgets.length; index++) {
        const budget = budgets[index] as AskedBudget
        const { subject, softNano } = budget
        if (softNano === undefined) continue
        let spent = spentNano[index] ?? 0
        for (const one of charged) if (one.subject === subject) spent += one.spentNano
        if (spent < softNano) continue
        tellOnce(client, budget, { passed: 'soft', limitNano: softNano }, () => ({
          type: 'budget.soft_exceeded',
          ...factsOf(budget, spent),
          softNano,
        }))
      }
    },
    refused(client, budgets, { reason, subject: refuser, spentNano: spent = 0 }) {
      const budget = reason === 'budget' && budgets.find(({ subject }) => subject === refuser)
      if (!budget) return
      const { limitNano } = budget
      // A limit of 0 blocks: there is nothing to exceed.
      if (limitNano <= 0 || !isExceededBy(budget, spent)) return
      tellOnce(client, budget, { passed: 'exceeded', limitNano }, () => ({
        type: 'budget.exceeded',
        ...factsOf(budget, spent),
        limitNano,
      }))
    },
  }
}
