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

/** What a form of theirs begins with; without one: no budget and no limits. */
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

export function BudgetFields<Fields extends Values & Budget>({ form }: { readonly form: Form<Fields> }) {
  return (
    <>
      <LimitField form={form} name="max_budget" label="At most" unit="US dollars" />
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

export function LimitFields<Fields extends Values & Limits>({ form }: { readonly form: Form<Fields> }) {
  return (
    <>
      {LIMITS.map(({ name, label, unit }) => (
        <LimitField key={name} form={form} name={name} label={label} unit={unit} />
      ))}
    </>
  )
}
