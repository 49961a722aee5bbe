import { costNano } from '../modes/cost.ts'
import type { Settlement } from '../stores/kv/shared-store.ts'
import type { BudgetPeriod } from '../stores/sql/budget-records.ts'
import type { Attempt, Call } from './call.ts'
import { chargedAccounts } from './holds.ts'

/** What a call has cost, and who pays. */
export interface Bill {
  /** undefined: a price is unknown. */
  readonly costNano: number | undefined
  /** Every account that pays, budget or not. */
  readonly charges: readonly BudgetPeriod[]
  /** The same for the shared store, which knows only those with a budget, and gives back what was held. */
  readonly budgets: Settlement['budgets']
}

/** Reads the bill of a call that is over: every attempt that gave a part of the answer, at the price of its deployment. */
export function billOf(call: Call, now: number): Bill {
  const cost = costOf(call)
  const charges = chargedAccounts(call.caller, call.servedGroup).map(({ subject, periodAt }) => {
    const hold = call.holds.find((held) => held.subject === subject)
    return { subject, period: hold?.period ?? periodAt(now) }
  })
  const paying = new Set(charges.map(({ subject }) => subject))
  const budgets = call.holds.map(({ subject, period, holdNano }) => {
    // A subject pays once, however many holds it has.
    const pays = paying.delete(subject)
    return { subject, period, holdNano, spentNano: pays ? (cost ?? 0) : 0 }
  })
  return { costNano: cost, charges, budgets }
}

function costOf(call: Call): number | undefined {
  let sum = 0
  for (const attempt of call.attempts) {
    if (attempt.outrun) continue
    const cost = costOfAttempt(call, attempt)
    if (cost === undefined) return undefined
    sum += cost
  }
  return sum
}

/** 0 when it used nothing, undefined when its price is unknown. */
export function costOfAttempt({ endpoint }: Call, { deployment, usage }: Attempt): number | undefined {
  return usage ? costNano(endpoint.mode, deployment.info, usage) : 0
}
