import type { Account } from '../../limits/accounts.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { Registry } from '../../routing/registry.ts'
import type { Caller } from '../caller.ts'
import type { Bounds } from '../plan/plan.ts'
import type { PipelineServices } from '../services.ts'
import type { Seeds } from './decide.ts'
import { type ExpectedCost, type Expecting, NO_COST } from './expected-cost.ts'
import type { AskedBudget, Hold } from './hold.ts'

/** The limit of a budget that only has a soft limit: it never refuses. A billion dollars, where the largest budget is nine
 *  millions, which a large organization may spend with no end of its period. */
const NO_LIMIT = 1e18

/** Whether an account pays for a deployment as a member of a group. An account for one model pays under each of the
 *  model's names, and for the model's deployments in any group. */
export function pays({ resolve }: Registry, { model }: Account, group: string, { modelName }: Deployment): boolean {
  if (model === undefined || model === group || model === modelName) return true
  const meant = resolve(model)?.name
  return meant !== undefined && (meant === group || meant === modelName)
}

/** Whether the caller has a budget for a single model; few have. */
export function hasModelBudget({ accounts }: Pick<Caller, 'accounts'>): boolean {
  return accounts.some(({ model }) => model !== undefined)
}

/** The caller's accounts that may pay for a call to these members of a group. */
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

/** The expected cost by account: an account for one model pays only for that model's deployments. */
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

/** Excludes the models that the named account pays for, because it has no room. False if it pays for every deployment
 *  of the call, so that none would remain. */
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

/** The accounts that have budgets, each with the call's expected cost. */
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
    // A budget that never refuses needs no hold.
    const { holdNano, likelyNano } = limitNano === NO_LIMIT ? NO_COST : costs(account)
    const period = periodAt(now)
    const seed = seeds.get(subject)
    const seedNano = seed?.period === period ? seed.spentNano : undefined
    const since = period === '' ? account.since : undefined
    budgets.push({ scope, subject, limitNano, softNano, holdNano, likelyNano, period, since, seedNano })
  }
  return budgets
}

/** The holds of a call that its budgets admitted. */
export function holdsOf(budgets: readonly AskedBudget[], spentNano: readonly number[]): Hold[] {
  return budgets.map(({ subject, period, holdNano, limitNano }, index) => {
    const alone = holdNano > 0 && (spentNano[index] ?? 0) + 2 * holdNano > limitNano
    return { subject, period, holdNano, alone }
  })
}

/** Whether the caller's next call might be refused because of what this one holds. */
export function mayBlockNextCall({
  slots,
  holds,
}: {
  readonly slots: readonly string[]
  readonly holds: readonly Hold[]
}): boolean {
  return slots.length > 0 || holds.some(({ alone }) => alone)
}
