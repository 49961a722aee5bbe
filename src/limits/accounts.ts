import { isoTime } from '../lib/iso-time.ts'
import { nanoOf } from '../lib/money.ts'
import { budgetPeriod, readBudgetDuration } from './budget-period.ts'
import type { LimitedScope } from './limited-scope.ts'

/** An account that calls are charged to. Every scope of a caller has one, with or without a budget. */
export interface Account {
  /** The name of its refusal: `team_budget`, `key_model_budget`. */
  readonly scope: string
  /** Its name in the shared store and in SQL. It contains the duration, so a changed duration begins a new account. */
  readonly subject: string
  /** Only calls of this model are charged; undefined charges all calls. */
  readonly model: string | undefined
  /** When its periods began, in ISO 8601. */
  readonly since: string
  /** undefined is no budget: spend is only counted. */
  readonly limitNano: number | undefined
  readonly softNano: number | undefined
  /** The name of the period that contains `now`; later periods sort after earlier ones. '' if the budget never resets. */
  periodAt(now: number): string
  /** When that period ends, in milliseconds since 1970. */
  resetsAt(now: number): number | undefined
}

/** The accounts of a scope: its own, and one for each model that has a budget. */
export function accountsOf(scope: LimitedScope): Account[] {
  const { level, id, budget_duration: duration, budget_started_at: begun, max_budget: max, soft_budget: soft } = scope
  // Databases write it in the time zone of the session.
  const since = isoTime(Date.parse(begun))
  // Encoded, so that no id equals another id with a duration or a model appended.
  const name = encodeURIComponent(id)
  const within = duration === null ? '' : `@${duration}`
  const periods = periodsOf(scope)
  const models = Object.entries(scope.model_max_budget ?? {})
  return [
    {
      scope: `${level}_budget`,
      subject: `${level}:${name}${within}`,
      model: undefined,
      since,
      limitNano: max === null ? undefined : nanoOf(max),
      softNano: soft === null ? undefined : nanoOf(soft),
      ...periods,
    },
    ...models.map(([model, limit]) => ({
      scope: `${level}_model_budget`,
      subject: `${level}:${name}|${model}${within}`,
      model,
      since,
      limitNano: nanoOf(limit),
      softNano: undefined,
      ...periods,
    })),
  ]
}

/** Whose account a subject names, and of which model. */
export function ownerOf(subject: string): {
  readonly level: string
  readonly id: string
  /** '' for an account of all models. */
  readonly model: string
} {
  const [, level = '', id = '', model = ''] = /^([^:]*):([^|@]*)(?:\|(.*?))?(?:@\d+[a-z]+)?$/.exec(subject) ?? []
  return { level, id: decodeURIComponent(id), model }
}

/** Keeps the last period: computing it anew for every call would cost more. */
function periodsOf({ budget_duration, budget_started_at }: LimitedScope): Pick<Account, 'periodAt' | 'resetsAt'> {
  const duration = budget_duration === null ? undefined : readBudgetDuration(budget_duration)
  if (!duration) return FOR_EVER
  const startedAt = Date.parse(budget_started_at)
  let [begins, ends, name] = [0, 0, '']
  return {
    periodAt(now) {
      if (now < begins || now >= ends) {
        ;({ begins, ends } = budgetPeriod(duration, startedAt, now))
        name = new Date(begins).toISOString()
      }
      return name
    },
    resetsAt: (now) => budgetPeriod(duration, startedAt, now).ends,
  }
}

const FOR_EVER: ReturnType<typeof periodsOf> = { periodAt: () => '', resetsAt: () => undefined }
