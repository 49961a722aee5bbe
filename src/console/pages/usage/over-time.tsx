import {
  bySplit,
  momentEnds,
  momentName,
  momentsOf,
  type Split,
  type Step,
  type Sums,
  valuesOf,
} from '../../data/sums.ts'
import type { TimeRange } from '../../data/time-range.ts'
import { Chart } from '../../design/chart/chart.tsx'
import { BEFORE, OTHER, type Series } from '../../design/chart/chart-scale.ts'
import { GROUPS, type Group, type Metric, withoutOne } from './metrics.ts'

/** A metric over time, the greatest groups apart. */
export function OverTime({
  rows,
  range,
  step,
  group,
  name,
  metric,
  cumulative,
  before,
}: {
  readonly rows: readonly Sums[]
  /** The range of the same length before and its sums by time; undefined: nothing is compared. */
  readonly before: { readonly from: string; readonly to: string; readonly rows: readonly Sums[] } | undefined
  readonly range: TimeRange
  readonly step: Step
  readonly group: Group
  readonly name: string
  readonly metric: Metric
  readonly cumulative: boolean
}) {
  const moments = momentsOf(range, step)
  const shown = (own: readonly Sums[], at: readonly number[]) => {
    const values = valuesOf(own, at, metric.value, metric.adds ? 0 : null)
    return cumulative ? running(values) : values
  }
  const series = bySplit(rows)
    .map(({ split, rows: own }): Series => {
      return { id: idOf(split, group), label: labelOf(split, group), values: shown(own, moments) }
    })
    .filter(({ values }) => values.some((value) => value !== null && value > 0))
  const per = step === 'hour' ? 'by hour' : 'by day of UTC'
  const label = `${metric.label} ${per} and ${GROUPS[group].label.toLowerCase()}${cumulative ? ', added up' : ''}`
  return (
    <Chart
      key={`${name} ${group}`}
      label={label}
      times={moments.map((moment) => momentName(moment, step))}
      series={series}
      before={
        before && { id: BEFORE, label: 'All, in the time before', values: shown(before.rows, momentsOf(before, step)) }
      }
      format={metric.format}
      axis={metric.axis}
      kind={metric.adds ? 'bars' : 'lines'}
      height={260}
      unfinished={range.open}
      legend
      onRange={(first, last) =>
        range.setCustom(new Date(moments[first] ?? 0), new Date(momentEnds(moments[last] ?? 0, step)))
      }
    />
  )
}

const idOf = ({ value, other }: Split, group: Group) => (other ? OTHER : (value ?? `${group} none`))
const labelOf = ({ value, name, other }: Split, group: Group) =>
  other ? 'All others' : (name ?? value ?? withoutOne(group))

function running(values: ReadonlyArray<number | null>): number[] {
  let sum = 0
  return values.map((value) => {
    sum += value ?? 0
    return sum
  })
}
