import { NANO } from '../lib/money.ts'
import type { BudgetStanding, SharedStore } from '../stores/kv/shared-store.ts'
import { type Account, accountsOf } from './accounts.ts'
import { budgetPeriod, readBudgetDuration } from './budget-period.ts'
import type { LimitedScope } from './limited-scope.ts'
import { quotasOf } from './quotas.ts'

interface Spending {
  readonly store: Pick<SharedStore, 'standing'>
  readonly budgets: {
    spent(of: readonly { readonly subject: string; readonly period: string }[]): Promise<readonly number[]>
  }
}

/** How much is used of every limit of some scopes, the last of which is a key's own. */
export async function standingOf(
  { store, budgets }: Spending,
  scopes: readonly LimitedScope[],
  parallelLimit: number | null,
  now: number,
) {
  const quotas = scopes.map((scope) => quotasOf([scope]))
  const accounts = scopes.map(accountsOf)
  const all = accounts.flat()
  const key = scopes.at(-1)
  const slots = parallelLimit === null || !key ? [] : [`${key.level}:${key.id}`]
  const [live, spent] = await Promise.all([
    store.standing({ quotas: quotas.flat(), slots, budgets: all.map(({ subject }) => subject) }),
    budgets.spent(all.map(({ subject, periodAt }) => ({ subject, period: periodAt(now) }))),
  ])
  let [counted, charged] = [0, 0]
  const told = scopes.map((scope, index) => ({
    level: scope.level,
    id: scope.id,
    limits: (quotas[index] ?? []).map(({ scope: name, unit, window, limit }) => {
      const at = counted++
      const resets_at = new Date(live.quotas.resetsAt[at] ?? now).toISOString()
      return { name, unit, window, ...shareOf(limit, live.quotas.used[at] ?? 0), resets_at }
    }),
    budgets: (accounts[index] ?? []).map((account) => {
      const at = charged++
      return budgetOf(account, scope, spent[at] ?? 0, live.budgets[at], now)
    }),
  }))
  const parallel =
    slots.length > 0 ? { name: 'key_parallel_requests', ...shareOf(parallelLimit ?? 0, live.taken[0] ?? 0) } : null
  const limits = told.flatMap((one) => [...one.limits, ...one.budgets])
  return { tightest: tightestOf(parallel ? [...limits, parallel] : limits), parallel, scopes: told }
}

type Told = Awaited<ReturnType<typeof standingOf>>['scopes'][number]

/** The same for those who may not see the amounts: that a budget is used up they learn from its refusals anyway. */
export function amountsHidden<Scope extends Pick<Told, 'budgets'>>(scope: Scope): Scope {
  const nothing = { limit: null, soft_limit: null, spent: null, held: null, left: null, hidden: true }
  return { ...scope, budgets: scope.budgets.map((budget) => ({ ...budget, ...nothing })) }
}

function shareOf(limit: number, used: number) {
  return { limit, used, left: Math.max(0, limit - used), share: limit <= 0 ? 1 : Math.min(1, used / limit) }
}

/** The shared store knows of calls whose spend the database has not got yet; after it was away the database knows more. */
function budgetOf(
  { scope: name, model, limitNano, softNano, periodAt }: Account,
  scope: LimitedScope,
  spentNano: number,
  known: BudgetStanding | undefined,
  now: number,
) {
  const period = periodAt(now)
  const spent = Math.max(spentNano, known?.period === period ? known.spentNano : 0)
  // What calls hold that run since an earlier period, that period pays.
  const held = known && known.period >= period ? known.heldNano : 0
  const limit = limitNano ?? null
  return {
    name,
    model: model ?? null,
    limit: limit === null ? null : limit / NANO,
    soft_limit: softNano === undefined ? null : softNano / NANO,
    spent: spent / NANO,
    held: held / NANO,
    left: limit === null ? null : Math.max(0, limit - spent - held) / NANO,
    share: limit === null ? null : shareOf(limit, spent + held).share,
    ...periodOf(scope, now),
    hidden: false,
  }
}

function periodOf({ budget_duration, budget_started_at }: LimitedScope, now: number) {
  const duration = budget_duration === null ? undefined : readBudgetDuration(budget_duration)
  if (!duration) return { period_begins: null, resets_at: null }
  const { begins, ends } = budgetPeriod(duration, Date.parse(budget_started_at), now)
  return { period_begins: new Date(begins).toISOString(), resets_at: new Date(ends).toISOString() }
}

function tightestOf(limits: readonly { readonly name: string; readonly share: number | null }[]) {
  let tightest: { name: string; share: number } | null = null
  for (const { name, share } of limits) {
    if (share !== null && share > (tightest?.share ?? -1)) tightest = { name, share }
  }
  return tightest
}
