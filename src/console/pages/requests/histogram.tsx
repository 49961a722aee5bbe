import { useApi } from '../../data/query.ts'
import { momentEnds, momentName, momentsOf, stepOf } from '../../data/sums.ts'
import type { TimeRange } from '../../data/time-range.ts'
import { Chart } from '../../design/chart/chart.tsx'
import { FAILED, OTHER } from '../../design/chart/chart-scale.ts'
import { count } from '../../design/format.ts'

const MOST_EXPORTED = 100_000

/** Calls of the range, by hour or by day of UTC. Dragging over it chooses a narrower one. */
export function Histogram({
  range,
  query,
}: {
  readonly range: TimeRange
  readonly query: Readonly<Record<string, string>>
}) {
  const step = stepOf(range, '')
  const { data } = useApi(
    'GET /ui/api/spend/report',
    { query: { ...query, from: range.from, to: range.to, group_by: step, limit: 10_000 } },
    { live: range.open ? 30 : undefined },
  )
  const moments = momentsOf(range, step)
  const rows = new Map(data?.data.map((row) => [Date.parse(row.group ?? ''), row]))
  const failed = moments.map((moment) => rows.get(moment)?.failed_calls ?? 0)
  const answered = moments.map((moment, at) => (rows.get(moment)?.calls ?? 0) - (failed[at] ?? 0))
  const calls = data?.data.reduce((sum, row) => sum + row.calls, 0) ?? 0
  return (
    <>
      <Chart
        label={`Calls by ${step === 'hour' ? 'hour' : 'day of UTC'}`}
        height={96}
        times={moments.map((moment) => momentName(moment, step))}
        series={[
          { id: OTHER, label: 'Ended without failure', values: answered },
          { id: FAILED, label: 'Failed', values: failed },
        ]}
        format={count}
        unfinished={range.open}
        onRange={(first, last) =>
          range.setCustom(new Date(moments[first] ?? 0), new Date(momentEnds(moments[last] ?? 0, step)))
        }
      />
      {calls > MOST_EXPORTED && (
        <p class="quiet small">
          {count(calls)} calls in this range: a file has the newest {count(MOST_EXPORTED)}.
        </p>
      )}
    </>
  )
}
