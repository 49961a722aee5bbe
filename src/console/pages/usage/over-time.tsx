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
import { OTHER, type Series } from '../../design/chart/chart-scale.ts'
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
}: {
  readonly rows: readonly Sums[]
  readonly range: TimeRange
  readonly step: Step
  readonly group: Group
  readonly name: string
  readonly metric: Metric
  readonly cumulative: boolean
}) {
  const moments = momentsOf(range, step)
  const series = bySplit(rows)
    .map(({ split, rows: own }): Series => {
      const values = valuesOf(own, moments, metric.value, metric.adds ? 0 : null)
      return { id: idOf(split, group), label: labelOf(split, group), values: cumulative ? running(values) : values }
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
      format={metric.format}
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
