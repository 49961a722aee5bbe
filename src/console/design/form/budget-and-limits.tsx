import { budget, count } from '../format.ts'
import { period } from '../time-words.ts'
import { NumberField, TextField } from './fields.tsx'
import type { Form, Values } from './form.tsx'
import { LimitField } from './limit-field.tsx'

/** The limits of requests and tokens that organizations, teams, users and keys can have, as the API names them. */
export const LIMITS = [
  { name: 'rpm_limit', label: 'Requests per minute', unit: 'requests', short: 'req/min' },
  { name: 'rph_limit', label: 'Requests per hour', unit: 'requests', short: 'req/h' },
  { name: 'rpd_limit', label: 'Requests per day', unit: 'requests', short: 'req/day' },
  { name: 'tpm_limit', label: 'Tokens per minute', unit: 'tokens', short: 'tok/min' },
  { name: 'tpd_limit', label: 'Tokens per day', unit: 'tokens', short: 'tok/day' },
] as const

type Limits = { readonly [Name in (typeof LIMITS)[number]['name']]: number | null }

interface Budget {
  readonly max_budget: number | null
  readonly soft_budget: number | null
  readonly budget_duration: string | null
}

export type BudgetAndLimitsValues = Budget & Limits

/** The initial values of a form for a record; without one no budget and no limits. */
export function budgetAndLimitsOf(one: BudgetAndLimitsValues | undefined): BudgetAndLimitsValues {
  return {
    max_budget: one?.max_budget ?? null,
    soft_budget: one?.soft_budget ?? null,
    budget_duration: one?.budget_duration ?? null,
    rpm_limit: one?.rpm_limit ?? null,
    rph_limit: one?.rph_limit ?? null,
    rpd_limit: one?.rpd_limit ?? null,
    tpm_limit: one?.tpm_limit ?? null,
    tpd_limit: one?.tpd_limit ?? null,
  }
}

/** Limits that apply too: those of a team, organization or person that the record belongs to. */
export interface Bound {
  /** Whose they are. */
  readonly name: string
  readonly of: BudgetAndLimitsValues
}

interface BoundedFields<Fields extends Values> {
  readonly form: Form<Fields>
  readonly bounds?: readonly Bound[]
}

export function BudgetFields<Fields extends Values & Budget>({ form, bounds = [] }: BoundedFields<Fields>) {
  return (
    <>
      <LimitField
        form={form}
        name="max_budget"
        label="At most"
        unit="US dollars"
        hint={tighter('max_budget', form.values.max_budget, bounds)}
      />
      <div class="pair">
        <TextField
          form={form}
          name="budget_duration"
          label="Period"
          nullable
          placeholder="30d"
          hint="24h, 30d or 1mo; empty: it never resets."
        />
        <NumberField form={form} name="soft_budget" label="Warn at" unit="US dollars" min={0} />
      </div>
    </>
  )
}

export function LimitFields<Fields extends Values & Limits>({ form, bounds = [] }: BoundedFields<Fields>) {
  return (
    <>
      {LIMITS.map(({ name, label, unit }) => (
        <LimitField
          key={name}
          form={form}
          name={name}
          label={label}
          unit={unit}
          hint={tighter(name, form.values[name], bounds)}
        />
      ))}
    </>
  )
}

/** The smaller bound that applies instead of the typed limit, or of none. */
function tighter(
  name: keyof Limits | 'max_budget',
  value: number | null,
  bounds: readonly Bound[],
): string | undefined {
  const set = bounds.flatMap(({ name: whose, of }) => (of[name] === null ? [] : [{ whose, of, most: of[name] }]))
  const [tightest] = set.sort((one, other) => one.most - other.most)
  if (!tightest || (value !== null && value <= tightest.most)) return undefined
  const { whose, most, of } = tightest
  if (name === 'max_budget') {
    const within = of.budget_duration ? ` in ${period(of.budget_duration)}` : ''
    return `${whose} may spend ${budget(most)}${within} in all.`
  }
  return value === null
    ? `${whose} allows ${count(most)} in all.`
    : `${whose} allows ${count(most)} in all, so ${count(most)} holds.`
}
