import { nanoOf } from '../lib/money.ts'
import { budgetPeriod, readBudgetDuration } from './budget-period.ts'
import type { LimitedScope } from './limited-scope.ts'

/** What a call's cost is charged to: every scope of its caller, whether it has a budget or not. */
export interface Account {
  /** What a refusal is called: `team_budget`, `key_model_budget`. */
  readonly scope: string
  /** The name of its money in the shared store and in SQL. Another duration makes another name. */
  readonly subject: string
  /** Only calls of this model are charged; undefined: all of them. */
  readonly model: string | undefined
  /** undefined: no budget, and only counted. */
  readonly limitNano: number | undefined
  readonly softNano: number | undefined
  /** The name of the period that holds a time; later ones sort after earlier ones. '' where there is only one. */
  periodAt(now: number): string
}

/** The accounts of a scope: its own, and one for each model with a budget of its own. */
export function accountsOf(scope: LimitedScope): Account[] {
  const { level, id, budget_duration: duration, max_budget: max, soft_budget: soft } = scope
  // As in an address: no id can then be mistaken for another one's with a duration or a model.
  const name = encodeURIComponent(id)
  const within = duration === null ? '' : `@${duration}`
  const periodAt = periodsOf(scope)
  const models = Object.entries(scope.model_max_budget ?? {})
  return [
    {
      scope: `${level}_budget`,
      subject: `${level}:${name}${within}`,
      model: undefined,
      limitNano: max === null ? undefined : nanoOf(max),
      softNano: soft === null ? undefined : nanoOf(soft),
      periodAt,
    },
    ...models.map(([model, limit]) => ({
      scope: `${level}_model_budget`,
      subject: `${level}:${name}|${model}${within}`,
      model,
      limitNano: nanoOf(limit),
      softNano: undefined,
      periodAt,
    })),
  ]
}

/** Reading the calendar for every call costs more than remembering the period that was found last. */
function periodsOf({ budget_duration, budget_started_at }: LimitedScope): (now: number) => string {
  const duration = budget_duration === null ? undefined : readBudgetDuration(budget_duration)
  if (!duration) return () => ''
  const startedAt = Date.parse(budget_started_at)
  let [begins, ends, name] = [0, 0, '']
  return (now) => {
    if (now < begins || now >= ends) {
      ;({ begins, ends } = budgetPeriod(duration, startedAt, now))
      name = new Date(begins).toISOString()
    }
    return name
  }
}
