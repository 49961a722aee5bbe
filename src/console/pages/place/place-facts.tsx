import { CopyButton } from '../../design/button.tsx'
import { count, money } from '../../design/format.ts'
import { Facts, Section } from '../../design/page.tsx'
import { Spent } from './spent.tsx'

interface Limited {
  readonly spend: number
  readonly max_budget: number | null
  readonly soft_budget: number | null
  readonly budget_duration: string | null
  readonly rpm_limit: number | null
  readonly rph_limit: number | null
  readonly rpd_limit: number | null
  readonly tpm_limit: number | null
  readonly tpd_limit: number | null
}

/** What an organization or a team may spend and ask for, with all its keys together. */
export function BudgetAndLimits({ of: one }: { readonly of: Limited }) {
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
        <Facts
          of={[
            ['Requests per minute', limit(one.rpm_limit)],
            ['Requests per hour', limit(one.rph_limit)],
            ['Requests per day', limit(one.rpd_limit)],
            ['Tokens per minute', limit(one.tpm_limit)],
            ['Tokens per day', limit(one.tpd_limit)],
          ]}
        />
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
