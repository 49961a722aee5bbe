import { pathTo, useParams } from '../../data/params.ts'
import { bySplit, momentEnds, momentName, momentsOf, type Step, type Sums, valuesOf } from '../../data/sums.ts'
import { rangeParams, type TimeRange } from '../../data/time-range.ts'
import { Cut } from '../../design/badge.tsx'
import { Chart } from '../../design/chart/chart.tsx'
import { FAILED, OTHER, type Series } from '../../design/chart/chart-scale.ts'
import { count, duration, money } from '../../design/format.ts'
import { Section } from '../../design/page.tsx'
import { share, short } from '../../design/rounded.ts'
import { type Column, Table } from '../../design/table.tsx'

interface Model {
  readonly id: string
  readonly name: string
  /** null: several, or none. */
  readonly model: string | null
  readonly spend: number
  readonly all: number
  readonly calls: number
  readonly failed: number
  readonly averageMs: number | null
}

const COLUMNS: ReadonlyArray<Column<Model>> = [
  { id: 'model', label: 'Model', cell: ({ name }) => <Cut>{name}</Cut> },
  { id: 'spend', label: 'Spend', number: true, cell: ({ spend }) => money(spend) },
  { id: 'share', label: 'Share', number: true, priority: 2, cell: ({ spend, all }) => share(spend, all) },
  { id: 'calls', label: 'Calls', number: true, cell: ({ calls }) => count(calls) },
  {
    id: 'failed',
    label: 'Failed',
    number: true,
    priority: 2,
    cell: ({ failed, calls }) => (failed > 0 ? share(failed, calls) : <span class="quiet">none</span>),
  },
  { id: 'average', label: 'Average', number: true, priority: 2, cell: ({ averageMs }) => duration(averageMs) },
]

/** Calls by how they ended, spend by model, and the models with what they did. */
export function Over({
  rows,
  range,
  step,
}: {
  readonly rows: readonly Sums[]
  readonly range: TimeRange
  readonly step: Step
}) {
  const params = useParams()
  const moments = momentsOf(range, step)
  const times = moments.map((moment) => momentName(moment, step))
  const splits = bySplit(rows)
  const all = rows.reduce((sum, { spend }) => sum + spend, 0)
  const of = (own: readonly Sums[], value: (sums: Sums) => number) => own.reduce((sum, row) => sum + value(row), 0)
  const endings: readonly Series[] = [
    {
      id: OTHER,
      label: 'Answered',
      values: valuesOf(rows, moments, (sums) => Math.max(0, sums.calls - sums.failed_calls - sums.cached_calls)),
    },
    { id: 'cached', label: 'From the cache', values: valuesOf(rows, moments, ({ cached_calls: calls }) => calls) },
    {
      id: FAILED,
      label: 'Failed or cut short',
      values: valuesOf(rows, moments, ({ failed_calls: calls }) => calls),
    },
  ]
  const models: readonly Model[] = splits.map(({ split, rows: own }) => {
    const calls = of(own, (sums) => sums.calls)
    return {
      id: split.other ? OTHER : (split.value ?? 'none'),
      name: split.other ? 'All others' : (split.value ?? 'No model was found'),
      model: split.value,
      spend: of(own, (sums) => sums.spend),
      all,
      calls,
      failed: of(own, (sums) => sums.failed_calls),
      averageMs: calls > 0 ? of(own, (sums) => (sums.average_ms ?? 0) * sums.calls) / calls : null,
    }
  })
  const spend: readonly Series[] = splits.map(({ rows: own }, at) => ({
    id: models[at]?.id ?? OTHER,
    label: models[at]?.name ?? '',
    values: valuesOf(own, moments, (sums) => sums.spend),
  }))
  const chosen = (first: number, last: number) =>
    range.setCustom(new Date(moments[first] ?? 0), new Date(momentEnds(moments[last] ?? 0, step)))
  const chart = { times, unfinished: range.open, onRange: chosen, height: 180 }
  const per = step === 'hour' ? 'by hour' : 'by day (UTC)'
  return (
    <>
      <div class="columns">
        <Section title={`Calls ${per}`}>
          <Chart
            {...chart}
            label={`Calls ${per}, by how they ended`}
            series={endings.filter(hasAny)}
            format={short}
            legend
          />
        </Section>
        <Section title={`Spend ${per}`}>
          <Chart {...chart} label={`Spend ${per}, by model`} series={spend.filter(hasAny)} format={money} legend />
        </Section>
      </div>
      <Section title="Models">
        <Table
          name="overview-models"
          label="Models"
          columns={COLUMNS}
          rows={models}
          rowId={({ id }) => id}
          href={({ model }) => (model === null ? undefined : pathTo('requests', { ...rangeParams(params), model }))}
        />
      </Section>
    </>
  )
}

const hasAny = ({ values }: Series) => values.some((value) => value !== null && value > 0)
