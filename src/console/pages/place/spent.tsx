import { budget, money } from '../../design/format.ts'
import { Meter } from '../../design/meter.tsx'
import { period } from '../../design/time-words.ts'

/** What an organization, a team or a person has spent of its budget. */
export function Spent({
  of: { spend, max_budget, budget_duration },
  full = false,
}: {
  readonly of: { readonly spend: number; readonly max_budget: number | null; readonly budget_duration: string | null }
  readonly full?: boolean
}) {
  if (max_budget === null) return <>{money(spend)}</>
  return (
    <Meter
      used={spend}
      of={max_budget}
      full={full}
      text={`${money(spend)} of ${budget(max_budget)}${budget_duration ? ` in ${period(budget_duration)}` : ''}`}
    />
  )
}
