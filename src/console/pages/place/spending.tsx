import type { Row } from '../../data/client.ts'
import { pathTo } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { useTimeRange } from '../../data/time-range.ts'
import { Cut } from '../../design/badge.tsx'
import { ButtonLink } from '../../design/button.tsx'
import { Chart } from '../../design/chart/chart.tsx'
import { count, money } from '../../design/format.ts'
import { share } from '../../design/rounded.ts'
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

type By = 'model' | 'team' | 'key'

const NAMES: Readonly<Record<By, { readonly one: string; readonly page?: string }>> = {
  model: { one: 'Model' },
  team: { one: 'Team', page: 'teams' },
  key: { one: 'Key', page: 'keys' },
}

const columnsOf = (by: By, whole: number): ReadonlyArray<Column<Sum>> => [
  { id: by, label: NAMES[by].one, cell: (sum) => <Cut>{sum.group_name ?? sum.group ?? 'none'}</Cut> },
  { id: 'spend', label: 'Spend', number: true, cell: (sum) => (isFree(sum) ? 'no price' : money(sum.spend)) },
  { id: 'share', label: 'Share', number: true, cell: (sum) => (isFree(sum) ? '–' : share(sum.spend, whole)) },
  { id: 'calls', label: 'Calls', number: true, cell: (sum) => count(sum.calls) },
  { id: 'failed', label: 'Failed', number: true, priority: 3, cell: (sum) => count(sum.failed_calls) },
]

/** Whose calls they are. */
type Whose =
  | { readonly key_id: string }
  | { readonly team_id: string }
  | { readonly organization_id: string }
  | { readonly owner: 'me' }

/** What calls have cost over the last days: by day, and by what they are asked for. */
export function Spending({ of: whose, by = ['model'] }: { readonly of: Whose; readonly by?: readonly By[] }) {
  const { from, to } = useTimeRange('30d', { hours: true })
  const query = { ...whose, from, to }
  const days = useApi('GET /ui/api/spend/report', { query: { ...query, group_by: 'day', limit: 100 } })
  return (
    <Loaded of={days}>
      {({ data }) => {
        if (data.length === 0) return <Empty title="No calls in the last 30 days" />
        const { days: names, values } = daily(data, from, to)
        const whole = values.reduce((sum, one) => sum + one, 0)
        return (
          <>
            <p class="quiet small">{money(whole)} in the last 30 days, by days of UTC</p>
            <Chart
              label="Spend by day"
              times={names.map((one) => dayOfUtc.format(new Date(one)))}
              series={[{ id: 'spend', label: 'Spend', values }]}
              format={money}
              height={150}
              unfinished
            />
            {by.map((one) => (
              <Sums key={one} by={one} query={query} whose={whose} whole={whole} />
            ))}
            <div class="row">
              <ButtonLink small href={pathTo('usage', { ...whose, range: '30d' })}>
                Open in Usage
              </ButtonLink>
            </div>
          </>
        )
      }}
    </Loaded>
  )
}

const MOST = 20

function Sums({
  by,
  query,
  whose,
  whole,
}: {
  readonly by: By
  readonly query: Whose & { readonly from: string; readonly to: string }
  readonly whose: Whose
  /** What was spent in all, of which there may be more than is listed. */
  readonly whole: number
}) {
  const read = useApi('GET /ui/api/spend/report', { query: { ...query, group_by: by, limit: MOST } })
  const { one, page } = NAMES[by]
  return (
    <Loaded of={read}>
      {({ data }) => (
        <Table
          name={`spend-by-${by}`}
          label={`Spend by ${one.toLowerCase()}`}
          columns={columnsOf(by, whole)}
          rows={data}
          rowId={({ group }) => group ?? ''}
          href={page ? ({ group }) => (group ? pathTo(page, { ...whose, open: group }) : undefined) : undefined}
        />
      )}
    </Loaded>
  )
}
