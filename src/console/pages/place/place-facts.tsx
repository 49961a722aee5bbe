import { CopyButton } from '../../design/button.tsx'
import { type BudgetAndLimitsValues, LIMITS } from '../../design/form/budget-and-limits.tsx'
import { count, money } from '../../design/format.ts'
import { Facts, Section } from '../../design/page.tsx'
import { Spent } from './spent.tsx'

/** What an organization or a team may spend and ask for, with all its keys together. */
export function BudgetAndLimits({ of: one }: { readonly of: BudgetAndLimitsValues & { readonly spend: number } }) {
  return (
    <>
      <Section title="Budget" level={3}>
        <p>
          <Spent of={one} full />
          {one.max_budget === null && <span class="quiet"> spent, no budget</span>}
        </p>
        {one.soft_budget !== null && <p class="quiet small">A warning is sent at {money(one.soft_budget)}.</p>}
      </Section>
      <Section title="Limits" level={3}>
        <Facts of={LIMITS.map(({ name, label }) => [label, limit(one[name])])} />
      </Section>
    </>
  )
}

const limit = (value: number | null) =>
  value === null ? <span class="quiet">no limit</span> : value === 0 ? 'nothing' : count(value)

export function Id({ of: id }: { readonly of: string }) {
  return (
    <span class="row">
      <span class="mono">{id}</span>
      <CopyButton text={id} label="Copy the id" />
    </span>
  )
}
