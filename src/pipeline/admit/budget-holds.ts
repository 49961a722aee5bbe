import type { Account } from '../../limits/accounts.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { Registry } from '../../routing/registry.ts'
import type { Caller } from '../caller.ts'
import type { Bounds } from '../plan/plan.ts'
import type { PipelineServices } from '../services.ts'
import type { Seeds } from './decide.ts'
import { type ExpectedCost, type Expecting, NO_COST } from './expected-cost.ts'
import type { AskedBudget, Hold } from './hold.ts'

/** A budget that refuses nobody, whose soft limit wants to be told of. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER

/** Whether an account pays for what a deployment does as a member of a group: a model's does by each of its names, and
 *  whatever the group was, where the deployment is one of the model. */
export function pays({ resolve }: Registry, { model }: Account, group: string, { modelName }: Deployment): boolean {
  if (model === undefined || model === group || model === modelName) return true
  const meant = resolve(model)?.name
  return meant !== undefined && (meant === group || meant === modelName)
}

/** Few have a budget for a single model. */
export function hasModelBudget({ accounts }: Pick<Caller, 'accounts'>): boolean {
  return accounts.some(({ model }) => model !== undefined)
}

/** The accounts of a caller that may have to pay for a call to these members of a group. */
export function chargedAccounts(
  registry: Registry,
  { accounts }: Caller,
  group: string,
  deployments: readonly Deployment[],
): readonly Account[] {
  if (!hasModelBudget({ accounts })) return accounts
  return accounts.filter(
    (account) => account.model === undefined || deployments.some((one) => pays(registry, account, group, one)),
  )
}

/** What each of these accounts may have to pay: one for a model, what the call costs at the deployments of that. */
export function costsOf(
  { registry }: PipelineServices,
  expected: Expecting,
  group: string,
  deployments: readonly Deployment[],
): (account: Account) => ExpectedCost {
  let ofAll: ExpectedCost | undefined
  return (account) => {
    if (account.model !== undefined) return expected(deployments.filter((one) => pays(registry, account, group, one)))
    ofAll ??= expected(deployments)
    return ofAll
  }
}

/** Leaves the models out of a call that one of its accounts, named by its subject, has no room for. False where it pays
 *  for all that the call may go to: then there is nobody else. */
export function leaveOut(
  registry: Registry,
  { accounts }: Caller,
  subject: string,
  { group, deployments, leftOut }: { group: string; deployments: readonly Deployment[] } & Pick<Bounds, 'leftOut'>,
): boolean {
  const account = accounts.find((one) => one.subject === subject)
  if (account?.model === undefined || !leftOut) return false
  const paidFor = deployments.filter((one) => pays(registry, account, group, one))
  if (paidFor.length === 0 || paidFor.length === deployments.length) return false
  for (const { modelName } of paidFor) leftOut.add(modelName)
  return true
}

/** The budgets among them, each with what the call is expected to cost. */
export function budgetsOf(
  accounts: readonly Account[],
  costs: (account: Account) => ExpectedCost,
  now: number,
  seeds: Seeds,
): AskedBudget[] {
  const budgets: AskedBudget[] = []
  for (const account of accounts) {
    const { scope, subject, limitNano = NO_LIMIT, softNano, periodAt } = account
    if (limitNano === NO_LIMIT && softNano === undefined) continue
    // What refuses nobody needs no hold, and is not filled by one.
    const { holdNano, likelyNano } = limitNano === NO_LIMIT ? NO_COST : costs(account)
    const period = periodAt(now)
    const seed = seeds.get(subject)
    const seedNano = seed?.period === period ? seed.spentNano : undefined
    budgets.push({ scope, subject, limitNano, softNano, holdNano, likelyNano, period, seedNano })
  }
  return budgets
}

/** What a call holds of budgets that had room for it. */
export function holdsOf(budgets: readonly AskedBudget[], spentNano: readonly number[]): Hold[] {
  return budgets.map(({ subject, period, holdNano, limitNano }, index) => {
    const alone = holdNano > 0 && (spentNano[index] ?? 0) + 2 * holdNano > limitNano
    return { subject, period, holdNano, alone }
  })
}

/** Whether the next call of the same caller might be refused for what this one holds. */
export function mayBlockNextCall({
  slots,
  holds,
}: {
  readonly slots: readonly string[]
  readonly holds: readonly Hold[]
}): boolean {
  return slots.length > 0 || holds.some(({ alone }) => alone)
}
