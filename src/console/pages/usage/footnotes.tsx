import { changeOf, type Totals } from '../../data/sums.ts'
import { count, money } from '../../design/format.ts'
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
    estimated > 0 && `The tokens of ${calls(estimated)} are estimated: the provider told none.`,
    group === 'tag' && 'A call counts once under each of its tags.',
  ].filter((note) => note !== false)
  return (
    <p>
      <b>{now === null ? '–' : metric.format(now)}</b>{' '}
      <span class="quiet">
        in {count(total.calls)} calls, {money(total.spend)}; {metric.label.toLowerCase()} was{' '}
        {before === null ? 'unknown' : metric.format(before)} in the time before
        {now !== null && before !== null && before > 0 ? ` (${changeOf(now, before)} now)` : ''}. {notes.join(' ')}
      </span>
    </p>
  )
}

const calls = (number: number) => (number === 1 ? '1 call' : `${count(number)} calls`)
