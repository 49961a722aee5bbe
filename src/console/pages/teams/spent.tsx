import { budget, money } from '../../design/format.ts'
import { Meter } from '../../design/meter.tsx'
import type { Team } from './team.ts'

/** What a team has spent of its budget. */
export function Spent({ team, full = false }: { readonly team: Team; readonly full?: boolean }) {
  const { spend, max_budget, budget_duration } = team
  if (max_budget === null) return <>{money(spend)}</>
  return (
    <Meter
      used={spend}
      of={max_budget}
      full={full}
      text={`${money(spend)} of ${budget(max_budget)}${budget_duration ? ` in ${budget_duration}` : ''}`}
    />
  )
}
