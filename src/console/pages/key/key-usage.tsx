import type { Row } from '../../data/client.ts'
import { pathTo } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { useTimeRange } from '../../data/time-range.ts'
import { Cut } from '../../design/badge.tsx'
import { ButtonLink } from '../../design/button.tsx'
import { Chart } from '../../design/chart/chart.tsx'
import { count, money, share } from '../../design/format.ts'
import { Empty, Loaded } from '../../design/states.tsx'
import { type Column, Table } from '../../design/table.tsx'

type Sum = Row<'GET /ui/api/spend/report'>

const dayOfUtc = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

const DAY_MS = 86_400_000

/** None of its calls had a price. */
const isFree = ({ calls, unpriced_calls: unpriced, spend }: Sum): boolean => spend === 0 && unpriced === calls

/** What was spent on each day, also on those without calls. The days are those of UTC, as the gateway sums them up. */
function daily(sums: readonly Sum[], from: string, to: string): { days: string[]; values: number[] } {
  const spent = new Map(sums.map(({ group, spend }) => [String(group).slice(0, 10), spend]))
  const first = Math.floor(Date.parse(from) / DAY_MS) * DAY_MS
  const count = Math.ceil((Date.parse(to) - first) / DAY_MS)
  const days = Array.from({ length: count }, (_, at) => new Date(first + at * DAY_MS).toISOString().slice(0, 10))
  return { days, values: days.map((one) => spent.get(one) ?? 0) }
}

const columnsOf = (whole: number): ReadonlyArray<Column<Sum>> => [
  { id: 'model', label: 'Model', cell: (sum) => <Cut>{sum.group_name ?? sum.group ?? 'none'}</Cut> },
  { id: 'spend', label: 'Spend', number: true, cell: (sum) => (isFree(sum) ? 'no price' : money(sum.spend)) },
  { id: 'share', label: 'Share', number: true, cell: (sum) => (isFree(sum) ? '–' : share(sum.spend, whole)) },
  { id: 'calls', label: 'Calls', number: true, cell: (sum) => count(sum.calls) },
  { id: 'failed', label: 'Failed', number: true, cell: (sum) => count(sum.failed_calls) },
]

/** What calls have cost over the last days, by day and by model. */
export function KeyUsage({ query }: { readonly query: { readonly key_id: string } | { readonly owner: 'me' } }) {
  const { from, to } = useTimeRange('30d', { hours: true })
  const asked = { ...query, from, to }
  const days = useApi('GET /ui/api/spend/report', { query: { ...asked, group_by: 'day', limit: 100 } })
  const models = useApi('GET /ui/api/spend/report', { query: { ...asked, group_by: 'model', limit: 20 } })
  return (
    <>
      <Loaded of={days}>
        {({ data }) =>
          data.length === 0 ? <Empty title="No calls in the last 30 days" /> : <Spending of={daily(data, from, to)} />
        }
      </Loaded>
      <Loaded of={models}>
        {({ data }) =>
          data.length > 0 && (
            <>
              <Table
                name="usage-of-key"
                label="Spend by model"
                columns={columnsOf(data.reduce((sum, { spend }) => sum + spend, 0))}
                rows={data}
                rowId={({ group }) => group ?? ''}
              />
              <div class="row">
                <ButtonLink small href={pathTo('usage', { ...query, range: '30d' })}>
                  Open in Usage
                </ButtonLink>
              </div>
            </>
          )
        }
      </Loaded>
    </>
  )
}

function Spending({ of: { days, values } }: { readonly of: { readonly days: string[]; readonly values: number[] } }) {
  return (
    <Chart
      label="Spend by day"
      times={days.map((one) => dayOfUtc.format(new Date(one)))}
      series={[{ id: 'spend', label: 'Spend', values }]}
      format={money}
      height={150}
      unfinished
    />
  )
}
