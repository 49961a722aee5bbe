import { pathTo } from '../../data/params.ts'
import { changeOf, type Sums, type Totals } from '../../data/sums.ts'
import { Cut } from '../../design/badge.tsx'
import { count, duration, money } from '../../design/format.ts'
import { percentile, share, short } from '../../design/rounded.ts'
import type { Column } from '../../design/table.tsx'
import { GROUPS, type Group, type Metric, withoutOne } from './metrics.ts'

/** The columns of the table: the group, what it spent and did, and, where it is compared, how it was before. */
export function columnsOf({
  group,
  metric,
  total,
  before,
}: {
  readonly group: Group
  readonly metric: Metric
  readonly total: Totals | undefined
  readonly before: readonly Sums[] | undefined
}): ReadonlyArray<Column<Sums>> {
  const was = new Map(before?.map((one) => [one.group, one]))
  const earlier = ({ group: value }: Sums) => {
    const one = was.get(value)
    return one ? metric.value(one) : metric.adds ? 0 : null
  }
  return [
    {
      id: 'group',
      label: GROUPS[group].label,
      elastic: true,
      cell: ({ group: value, group_name: name }) =>
        value === null ? (
          <span class="quiet">{withoutOne(group)}</span>
        ) : name === null ? (
          <Cut>{value}</Cut>
        ) : (
          <span class="cut" title={`${name} (${value})`}>
            {name}
          </span>
        ),
    },
    {
      id: 'spend',
      label: 'Spend',
      number: true,
      cell: ({ spend, calls, unpriced_calls: unpriced }) =>
        calls > 0 && unpriced === calls ? 'no price' : money(spend),
    },
    ...(total
      ? [
          {
            id: 'share',
            label: 'Share',
            number: true,
            priority: 2,
            cell: ({ spend }) => share(spend, total.spend),
          } satisfies Column<Sums>,
        ]
      : []),
    ...(before
      ? [
          {
            id: 'change',
            label: `${metric.label} before`,
            number: true,
            cell: (row) => <Before now={metric.value(row)} before={earlier(row)} format={metric.format} />,
          } satisfies Column<Sums>,
        ]
      : []),
    { id: 'calls', label: 'Calls', number: true, cell: ({ calls }) => count(calls) },
    {
      id: 'failed',
      label: 'Failed',
      number: true,
      priority: 2,
      cell: ({ failed_calls: failed, calls }) => (failed > 0 ? share(failed, calls) : <span class="quiet">none</span>),
    },
    { id: 'input', label: 'Tokens in', number: true, priority: 3, cell: ({ input_tokens: tokens }) => short(tokens) },
    {
      id: 'output',
      label: 'Tokens out',
      number: true,
      priority: 3,
      cell: ({ output_tokens: tokens }) => short(tokens),
    },
    {
      id: 'cached',
      label: 'Cached',
      number: true,
      priority: 3,
      cell: ({ cached_input_tokens: cached, input_tokens: all }) => share(cached, all),
    },
    {
      id: 'rate',
      label: '$ per 1M tokens',
      number: true,
      priority: 3,
      cell: ({ spend, input_tokens, output_tokens }) =>
        input_tokens + output_tokens > 0 && spend > 0 ? money((1e6 * spend) / (input_tokens + output_tokens)) : '–',
    },
    { id: 'average', label: 'Average', number: true, priority: 3, cell: ({ average_ms: ms }) => duration(ms) },
    { id: 'p95', label: '95 % within', number: true, priority: 3, cell: ({ p95_ms: ms }) => percentile(ms) },
    {
      id: 'first',
      label: 'First token, 95 % within',
      number: true,
      optional: true,
      cell: ({ first_token_p95_ms: ms }) => percentile(ms),
    },
    { id: 'saved', label: 'Saved', number: true, optional: true, cell: ({ saved }) => money(saved) },
    { id: 'unpriced', label: 'No price', number: true, priority: 3, cell: ({ unpriced_calls: calls }) => some(calls) },
    {
      id: 'estimated',
      label: 'Estimated',
      number: true,
      optional: true,
      cell: ({ estimated_calls: calls }) => some(calls),
    },
    { id: 'id', label: 'Id', optional: true, cell: ({ group: value }) => <span class="mono">{value}</span> },
  ]
}

const some = (calls: number) => (calls > 0 ? count(calls) : <span class="quiet">none</span>)

function Before({
  now,
  before,
  format,
}: {
  readonly now: number | null
  readonly before: number | null
  readonly format: (value: number) => string
}) {
  if (before === null || now === null) return <span class="quiet">{before === null ? 'nothing' : format(before)}</span>
  return (
    <>
      {format(before)} {before > 0 && <span class="quiet">({changeOf(now, before)})</span>}
    </>
  )
}

/** The calls of a group. Of what they do not have, there is no filter. */
export const leadsTo = (row: Sums, group: Group, params: Readonly<Record<string, string>>): string | undefined =>
  row.group === null ? undefined : pathTo('requests', { ...params, [GROUPS[group].filter]: row.group })
