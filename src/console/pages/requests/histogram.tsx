import { useApi } from '../../data/query.ts'
import type { TimeRange } from '../../data/time-range.ts'
import { Chart } from '../../design/chart/chart.tsx'
import { FAILED, OTHER } from '../../design/chart/chart-scale.ts'
import { count, day } from '../../design/format.ts'
import { clock } from '../../design/time-words.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const MOST_EXPORTED = 100_000

/** Calls of the range, by hour or by day. Dragging over it chooses a narrower one. */
export function Histogram({
  range,
  query,
}: {
  readonly range: TimeRange
  readonly query: Readonly<Record<string, string>>
}) {
  const [from, to] = [Date.parse(range.from), Date.parse(range.to)]
  const byHour = to - from <= 3 * DAY
  const step = byHour ? HOUR : DAY
  const { data } = useApi(
    'GET /ui/api/spend/report',
    { query: { ...query, from: range.from, to: range.to, group_by: byHour ? 'hour' : 'day', limit: 1000 } },
    { live: range.open ? 30 : undefined },
  )
  const start = Math.floor(from / step) * step
  const times = Array.from({ length: Math.max(1, Math.ceil((to - start) / step)) }, (_, at) => start + at * step)
  const rows = new Map(data?.data.map((row) => [Date.parse(row.group ?? ''), row]))
  const failed = times.map((time) => rows.get(time)?.failed_calls ?? 0)
  const answered = times.map((time, at) => (rows.get(time)?.calls ?? 0) - (failed[at] ?? 0))
  const calls = data?.data.reduce((sum, row) => sum + row.calls, 0) ?? 0
  return (
    <>
      <Chart
        label="Calls over time"
        height={96}
        times={times.map((time) => (byHour ? clock(time).slice(0, 5) : day(time)))}
        series={[
          { id: OTHER, label: 'Ended without failure', values: answered },
          { id: FAILED, label: 'Failed', values: failed },
        ]}
        format={count}
        unfinished={range.open}
        onRange={(first, last) =>
          range.setCustom(new Date(times[first] as number), new Date((times[last] as number) + step))
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
