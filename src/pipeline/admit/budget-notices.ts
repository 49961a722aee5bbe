import { describeError, type Log } from '../../lib/log.ts'
import { ownerOf } from '../../limits/accounts.ts'
import { expiringMap } from '../../stores/kv/in-process/expiring-map.ts'
import { exceededBudgetKey, type Key, softBudgetKey } from '../../stores/kv/keys.ts'
import type { Budget, Refused, Settlement, SharedStore } from '../../stores/kv/shared-store.ts'
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

/** Longer than any period in which the same crossing could be seen again. */
const REMEMBER_SECONDS = 40 * 86_400
const REMEMBERED_HERE = 10_000

/** What tells a budget's period from its others: those without end have one name. */
const nameOf = ({ period, since = '' }: Budget): string => period || since

export function budgetNotices(options: {
  readonly store: SharedStore
  readonly telemetry: Telemetry
  readonly now: () => number
  readonly log: Log
}): BudgetNotices {
  const { store, telemetry, now, log } = options
  const told = expiringMap<true>(now, REMEMBERED_HERE)

  /** Emits an event unless this or another process has done so. */
  function tellOnce(client: Pick<Client, 'defer'>, key: Key, event: () => BudgetMoved): void {
    if (told.get(key)) return
    told.set(key, true, now() + 1000 * REMEMBER_SECONDS)
    client.defer(tell(key, event))
  }

  async function tell(key: Key, event: () => BudgetMoved): Promise<void> {
    const moved = event()
    try {
      if (!(await store.putNew(key, '1', REMEMBER_SECONDS))) return
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
        tellOnce(client, softBudgetKey(subject, nameOf(budget), softNano), () => ({
          type: 'budget.soft_exceeded',
          ...factsOf(budget, spent),
          softNano,
        }))
      }
    },
    refused(client, budgets, { reason, subject: refuser, spentNano: spent = 0 }) {
      const budget = reason === 'budget' && budgets.find(({ subject }) => subject === refuser)
      if (!budget) return
      const { subject, limitNano } = budget
      // A limit of 0 blocks: there is nothing to exceed.
      if (limitNano <= 0 || !isExceededBy(budget, spent)) return
      tellOnce(client, exceededBudgetKey(subject, nameOf(budget), limitNano), () => ({
        type: 'budget.exceeded',
        ...factsOf(budget, spent),
        limitNano,
      }))
    },
  }
}
