import { changeOf, type Totals } from '../../data/sums.ts'
import { count } from '../../design/format.ts'
import type { Group, Metric } from './metrics.ts'

/** The sum of everything that is shown, and what there is to know about it. */
export function Footnotes({
  total,
  previous,
  metric,
  group,
}: {
  readonly total: Totals
  readonly previous: Totals
  readonly metric: Metric
  readonly group: Group
}) {
  const now = metric.value(total)
  const before = metric.value(previous)
  const { unpriced_calls: unpriced, estimated_calls: estimated } = total
  const notes = [
    unpriced > 0 && `${calls(unpriced)} without a price add nothing to the spend.`,
    estimated > 0 && `The tokens of ${calls(estimated)} are estimated: the provider reported none.`,
    group === 'tag' && 'A call counts once under each of its tags.',
  ].filter((note) => note !== false)
  const label = metric.label.toLowerCase()
  const then =
    previous.calls === 0 || before === null
      ? 'none in the time before'
      : `${metric.format(before)} in the time before${now !== null && before > 0 ? ` (${changeOf(now, before)})` : ''}`
  return (
    <p>
      <b>{now === null ? '–' : metric.format(now)}</b>{' '}
      <span class="quiet">
        {label === 'calls' ? label : `${label} of ${calls(total.calls)}`}; {then}. {notes.join(' ')}
      </span>
    </p>
  )
}

const calls = (number: number) => (number === 1 ? '1 call' : `${count(number)} calls`)
