import { describeError, type Log } from '../../lib/log.ts'
import { expiringMap } from '../../stores/kv/in-process/expiring-map.ts'
import { softBudgetKey } from '../../stores/kv/keys.ts'
import type { SharedStore } from '../../stores/kv/shared-store.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import type { Client } from '../client.ts'
import type { AskedBudget } from './hold.ts'

/** Reports budgets that pass their soft limit: once a period across all processes. No call waits for it. */
export interface SoftBudgets {
  look(client: Client, budgets: readonly AskedBudget[], spentNano: readonly number[]): void
}

/** Longer than any period in which the same crossing could be seen again. */
const REMEMBER_SECONDS = 40 * 86_400
const REMEMBERED_HERE = 10_000

export function softBudgets(options: {
  readonly store: SharedStore
  readonly telemetry: Telemetry
  readonly now: () => number
  readonly log: Log
}): SoftBudgets {
  const { store, telemetry, now, log } = options
  const told = expiringMap<true>(now, REMEMBERED_HERE)

  async function tell({ scope, subject, period }: AskedBudget, softNano: number, spentNano: number): Promise<void> {
    try {
      if (!(await store.putNew(softBudgetKey(subject, period), '1', REMEMBER_SECONDS))) return
    } catch (error) {
      log.warn('soft_budget.not_remembered', { subject, error: describeError(error) })
    }
    const at = new Date(now()).toISOString()
    telemetry.emit({ type: 'budget.soft_exceeded', at, scope, subject, period, softNano, spentNano })
  }

  return {
    look(client, budgets, spentNano) {
      for (let index = 0; index < budgets.length; index++) {
        const budget = budgets[index] as AskedBudget
        const { subject, period, softNano } = budget
        const spent = spentNano[index] ?? 0
        if (softNano === undefined || spent < softNano) continue
        const name = `${subject} ${period}`
        if (told.get(name)) continue
        told.set(name, true, now() + 1000 * REMEMBER_SECONDS)
        client.defer(tell(budget, softNano, spent))
      }
    },
  }
}
