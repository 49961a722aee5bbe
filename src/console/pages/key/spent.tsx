import { budget, money } from '../../design/format.ts'
import { Meter } from '../../design/meter.tsx'
import { period } from '../../design/time-words.ts'
import type { Key } from './key.ts'

/** What a key has spent of its budget. */
export function Spent({ of: key }: { readonly of: Key }) {
  const { spend, max_budget: most, budget_duration: within } = key
  if (most === null) return <>{money(spend)}</>
  return (
    <Meter used={spend} of={most} text={`${money(spend)} of ${budget(most)}${within ? ` in ${period(within)}` : ''}`} />
  )
}
