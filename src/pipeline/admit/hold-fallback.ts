import { GatewayError } from '../../lib/errors.ts'
import type { Account } from '../../limits/accounts.ts'
import type { Deployment } from '../../routing/deployment.ts'
import { ASKS_NOTHING } from '../../stores/kv/nothing.ts'
import type { Refused } from '../../stores/kv/shared-store.ts'
import { type Call, newAttemptId } from '../call.ts'
import type { Caller } from '../caller.ts'
import { type Plan, remaining } from '../plan/plan.ts'
import type { PipelineServices } from '../services.ts'
import { attemptNano } from '../settle/bill.ts'
import { budgetsOf, chargedAccounts, costsOf, holdsOf, leaveOut, pays } from './budget-holds.ts'
import { decide, LEASE_SECONDS, NO_SEEDS, type Seeds } from './decide.ts'
import { expecting } from './expected-cost.ts'
import type { AskedBudget } from './hold.ts'

/** Holds what further deployments may cost beyond the call's present holds, on top of its usage so far: a dearer model
 *  is checked like a call of its own. Returns the deployments that its budgets have room for; throws if there are none. */
export async function holdFallback(
  services: PipelineServices,
  call: Call,
  { group: { name: group } }: Plan,
  deployments: readonly Deployment[],
): Promise<Deployment[]> {
  const { registry } = services
  const { leftOut } = call.bounds
  const expected = expecting(services, call, call.request, saidTokens(call))
  const left = () => remaining([...deployments], leftOut)
  if (left().length === 0) {
    throw new GatewayError('budget_exceeded', `The budgets of the models of '${group}' are spent.`, { param: 'model' })
  }
  const asking = (seeds: Seeds) => {
    const next = left()
    const accounts = chargedAccounts(registry, call.caller, group, next)
    const costs = costsOf(services, expected, group, next)
    const withUsed = (account: Account) => {
      const { holdNano, likelyNano } = costs(account)
      const used = usedNano(services, call, account)
      return { holdNano: holdNano + used, likelyNano: likelyNano + used }
    }
    return budgetsOf(accounts, withUsed, services.storeClock.now(), seeds).flatMap((budget) => missing(call, budget))
  }
  if (asking(NO_SEEDS).length === 0) return left()
  const doesWithout = (caller: Caller, { reason, subject }: Refused) =>
    reason === 'budget' && leaveOut(registry, caller, subject, { group, deployments: left(), leftOut })
  const ask = (_caller: Caller, seeds: Seeds) => ({
    ...ASKS_NOTHING,
    callId: call.id,
    attemptId: newAttemptId(),
    budgets: asking(seeds),
    leaseSeconds: LEASE_SECONDS,
  })
  const { asked, admitted } = await decide(services, call, ask, doesWithout)
  call.holds.push(...holdsOf(asked.budgets, admitted.spentNano))
  return left()
}

/** What an account already pays for an answer that has begun. */
function usedNano({ registry }: PipelineServices, call: Call, account: Account): number {
  return call.attempts.reduce((sum, attempt) => {
    const { deployment, plan, lostHedge } = attempt
    if (lostHedge || !pays(registry, account, plan.group.name, deployment)) return sum
    return sum + (attemptNano(call, attempt) ?? 0)
  }, 0)
}

/** The tokens of the answer so far, which a continuation reads. What earlier turns said is in the request already. */
function saidTokens({ attempts, turn }: Call): number {
  return attempts.reduce(
    (sum, one) => sum + (one.lostHedge || one.turn !== turn ? 0 : (one.usage?.outputTokens ?? 0)),
    0,
  )
}

/** The part of a budget's hold that the call is missing. */
function missing({ holds }: Call, budget: AskedBudget): AskedBudget[] {
  const ownNano = holds.flatMap(({ subject, holdNano }) => (subject === budget.subject ? [holdNano] : []))
  const own = ownNano.reduce((sum, amount) => sum + amount, 0)
  let holdNano = budget.holdNano - own
  if (ownNano.length > 0 && holdNano <= 0) return []
  // The store distinguishes the holds of one call by their amounts.
  while (ownNano.includes(holdNano)) holdNano += 1
  return [{ ...budget, holdNano, ownNano }]
}
