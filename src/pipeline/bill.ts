import { costNano } from '../modes/cost.ts'
import type { Registry } from '../routing/registry.ts'
import type { Settlement } from '../stores/kv/shared-store.ts'
import type { BudgetPeriod } from '../stores/sql/budget-records.ts'
import type { Attempt, Call } from './call.ts'
import { chargedAccounts } from './holds.ts'

/** What a call has cost, and who pays. */
export interface Bill {
  /** undefined: a price is unknown. */
  readonly costNano: number | undefined
  /** The same of each attempt. 0 when it used nothing. */
  readonly attemptsNano: readonly (number | undefined)[]
  /** Every account that pays, budget or not. */
  readonly charges: readonly BudgetPeriod[]
  /** The same for the shared store, which knows only those with a budget, and gives back what was held. */
  readonly budgets: Settlement['budgets']
}

/** Reads the bill of a call that is over: every attempt that gave a part of the answer, at the price of its deployment. */
export function billOf(registry: Registry, call: Call, now: number): Bill {
  const { attempts, holds, caller, servedGroup } = call
  const attemptsNano = attempts.map((attempt) => costOf(call, attempt))
  const cost = sumOf(attempts, attemptsNano)
  const charges = chargedAccounts(registry, caller, servedGroup).map(({ subject, periodAt }) => ({
    subject,
    period: holds[placeOf(subject, holds)]?.period ?? periodAt(now),
  }))
  const budgets = holds.map(({ subject, period, holdNano }, index) => {
    // A subject pays once, however many holds it has.
    const pays = placeOf(subject, charges) !== -1 && placeOf(subject, holds) === index
    return { subject, period, holdNano, spentNano: pays ? (cost ?? 0) : 0 }
  })
  return { costNano: cost, attemptsNano, charges, budgets }
}

function placeOf(subject: string, list: readonly BudgetPeriod[]): number {
  for (let index = 0; index < list.length; index++) if (list[index]?.subject === subject) return index
  return -1
}

function costOf({ endpoint }: Call, { deployment, usage }: Attempt): number | undefined {
  return usage ? costNano(endpoint.mode, deployment.info, usage) : 0
}

function sumOf(attempts: readonly Attempt[], costs: Bill['attemptsNano']): number | undefined {
  let sum = 0
  for (const [index, { outrun }] of attempts.entries()) {
    const cost = outrun ? 0 : costs[index]
    if (cost === undefined) return undefined
    sum += cost
  }
  return sum
}
