import type { Deployment } from '../routing/deployment.ts'
import { decide, LEASE_SECONDS, type Seeds } from './admit.ts'
import { type Call, newAttemptId } from './call.ts'
import { type ExpectedCost, expecting } from './expected-cost.ts'
import { type AskedBudget, budgetsOf, chargedAccounts, holdsOf } from './holds.ts'
import type { PipelineServices } from './pipeline.ts'
import type { Plan } from './plan.ts'

/** Holds what a fallback may cost beyond what the call holds already: a dearer model is checked like a call of its own.
 *  Throws where a budget has no room for it. */
export async function holdFallback(
  services: PipelineServices,
  call: Call,
  { group }: Plan,
  deployments: readonly Deployment[],
): Promise<void> {
  const accounts = chargedAccounts(services.registry, call.caller, group.name)
  let cost: ExpectedCost | undefined
  const costs = () => (cost ??= expecting(services, call, call.request)(deployments))
  const asking = (seeds: Seeds) =>
    budgetsOf(accounts, costs, services.clock.now(), seeds).flatMap((budget) => missing(call, budget))
  if (asking(new Map()).length === 0) return
  const { asked, admitted } = await decide(services, call, (_caller, seeds) => ({
    callId: call.id,
    attemptId: newAttemptId(),
    versions: [],
    quotas: [],
    tokens: 0,
    slots: [],
    budgets: asking(seeds),
    candidates: [],
    leaseSeconds: LEASE_SECONDS,
  }))
  call.holds.push(...holdsOf(asked.budgets, admitted.spentNano))
}

/** What of a budget the call does not hold yet. */
function missing({ holds }: Call, budget: AskedBudget): AskedBudget[] {
  const own = holds.filter(({ subject }) => subject === budget.subject)
  let holdNano = budget.holdNano - own.reduce((sum, hold) => sum + hold.holdNano, 0)
  if (own.length > 0 && holdNano <= 0) return []
  // Holds of one call are told apart by their amounts.
  while (own.some((hold) => hold.holdNano === holdNano)) holdNano += 1
  return [{ ...budget, holdNano, likelyNano: Math.min(budget.likelyNano ?? holdNano, holdNano) }]
}
