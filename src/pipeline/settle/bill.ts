import { costNano } from '../../modes/price/cost.ts'
import type { Registry } from '../../routing/registry.ts'
import type { Settlement } from '../../stores/kv/shared-store.ts'
import type { BudgetPeriod } from '../../stores/sql/records/budget-records.ts'
import type { Charge } from '../../telemetry/events.ts'
import { pays } from '../admit/budget-holds.ts'
import type { Attempt, Call } from '../call.ts'

/** The cost of a call and the accounts that pay it. */
export interface Bill {
  /** undefined if a price is unknown. */
  readonly costNano: number | undefined
  /** The cost of each attempt; 0 if it used nothing. */
  readonly attemptsNano: readonly (number | undefined)[]
  /** Charges to every account that pays, with or without a budget. */
  readonly charges: readonly Charge[]
  /** The holds to release and the charges for the shared store, which has the accounts with a budget: also those that were
   *  given one while the call ran. */
  readonly budgets: Settlement['budgets']
}

/** Computes the bill of a finished call: every attempt that contributed to the answer, at its deployment's price.
 *  `beganAt`, by the clock of the store, is in the period that pays. */
export function billOf(registry: Registry, call: Call, beganAt: number): Bill {
  const { attempts, holds } = call
  const attemptsNano = attempts.map((attempt) => attemptNano(call, attempt))
  const cost = sumOf(attempts, attemptsNano)
  const charges = chargesOf(registry, call, { cost, attemptsNano }, beganAt)
  const budgets: Settlement['budgets'][number][] = holds.map(({ subject, period, holdNano }, index) => {
    // A subject is charged once, however many holds it has.
    const charge = placeOf(subject, holds) === index ? charges[placeOf(subject, charges)] : undefined
    return { subject, period, since: charge?.since, holdNano, spentNano: charge ? (charge.costNano ?? cost ?? 0) : 0 }
  })
  for (const { subject, period, since, costNano: spentNano = cost ?? 0 } of charges) {
    if (spentNano > 0 && placeOf(subject, holds) === -1)
      budgets.push({ subject, period, since, holdNano: 0, spentNano })
  }
  return { costNano: cost, attemptsNano, charges, budgets }
}

/** The charges of each account. An account for one model pays only for attempts at that model's deployments. */
function chargesOf(
  registry: Registry,
  { attempts, holds, caller }: Call,
  { cost, attemptsNano }: { readonly cost: number | undefined } & Pick<Bill, 'attemptsNano'>,
  beganAt: number,
): Charge[] {
  const charges: Charge[] = []
  for (const account of caller.accounts) {
    const { subject, model, periodAt } = account
    const period = holds[placeOf(subject, holds)]?.period ?? periodAt(beganAt)
    // Other periods are named by when they begin.
    const since = period === '' ? account.since : undefined
    if (model === undefined) charges.push({ subject, period, since })
    else {
      const paid = attempts.map(({ plan, deployment }) => pays(registry, account, plan.group.name, deployment))
      const costs = attemptsNano.map((one, index) => (paid[index] ? one : 0))
      const costNano = cost === undefined ? undefined : sumOf(attempts, costs)
      if (paid.includes(true)) charges.push({ subject, period, since, costNano })
    }
  }
  return charges
}

/** The bill when the cost cannot be computed: it releases the holds and charges nothing. */
export function unbilled({ holds }: Call): Bill {
  const budgets = holds.map(({ subject, period, holdNano }) => ({ subject, period, holdNano, spentNano: 0 }))
  return { costNano: undefined, attemptsNano: [], charges: [], budgets }
}

function placeOf(subject: string, list: readonly BudgetPeriod[]): number {
  for (let index = 0; index < list.length; index++) if (list[index]?.subject === subject) return index
  return -1
}

/** The cost of one attempt: 0 if it used nothing, undefined if its price is unknown. */
export function attemptNano(call: Call, { deployment, usage }: Attempt): number | undefined {
  return usage ? costNano(call.endpoint.mode, deployment.info, usage, call) : 0
}

function sumOf(attempts: readonly Attempt[], costs: Bill['attemptsNano']): number | undefined {
  let sum = 0
  for (let index = 0; index < attempts.length; index++) {
    const cost = attempts[index]?.lostHedge ? 0 : costs[index]
    if (cost === undefined) return undefined
    sum += cost
  }
  return sum
}
