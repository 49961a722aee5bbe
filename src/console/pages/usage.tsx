import { useEffect } from 'preact/hooks'
import { addressOf } from '../data/client.ts'
import { lookups } from '../data/lookups.ts'
import { usePages } from '../data/paging.ts'
import { useParams } from '../data/params.ts'
import { refresh, useApi } from '../data/query.ts'
import { useScope } from '../data/scope.ts'
import { useMay } from '../data/session.ts'
import { shortcut } from '../data/shortcuts.ts'
import { canBeHours, stepOf } from '../data/sums.ts'
import { rangeParams, useTimeRange } from '../data/time-range.ts'
import { Button } from '../design/button.tsx'
import { type Filter, Filters, filterQuery } from '../design/filters.tsx'
import { ColumnChoice } from '../design/list/columns.tsx'
import { Downloads } from '../design/list/downloads.tsx'
import { Views } from '../design/list/views.tsx'
import { Menu } from '../design/menu.tsx'
import { Page } from '../design/page.tsx'
import { Empty, Loaded } from '../design/states.tsx'
import { ListTable } from '../design/table.tsx'
import { Segmented } from '../design/tabs.tsx'
import { Moment } from '../design/time.tsx'
import { RangePicker } from '../design/time-range.tsx'
import { columnsOf, leadsTo } from './usage/columns.tsx'
import { Footnotes } from './usage/footnotes.tsx'
import { GROUPS, type Group, METRICS, type Metric, type MetricName } from './usage/metrics.ts'
import { OverTime } from './usage/over-time.tsx'

/** How many groups the chart shows beside all others. */
const SHOWN = 7
const MOST_ROWS = 10_000
const LIVE_SECONDS = 60

/** Filters, each with the things that the person may look up; without, it takes an id. */
function useFilters(): readonly Filter[] {
  const may = useMay()
  return [
    { name: 'model', label: 'Model' },
    { name: 'provider', label: 'Provider' },
    { name: 'deployment', label: 'Deployment' },
    { name: 'organization_id', label: 'Organization', lookup: may('org.read') ? lookups.organization : undefined },
    { name: 'team_id', label: 'Team', lookup: may('team.read') ? lookups.team : undefined },
    { name: 'user_id', label: 'User', lookup: may('user.read') ? lookups.user : undefined },
    { name: 'key_id', label: 'Key', lookup: may('key.read') ? lookups.key : undefined },
    { name: 'tag', label: 'Tag' },
  ]
}

export function Usage() {
  const params = useParams()
  const scope = useScope()
  const may = useMay()
  const all = useFilters()
  const range = useTimeRange('7d', { hours: true })
  const group = (params.get('group_by') in GROUPS ? params.get('group_by') : 'model') as Group
  const name = (params.get('metric') in METRICS ? params.get('metric') : 'spend') as MetricName
  const metric: Metric = METRICS[name]
  const step = stepOf(range, params.get('step'))
  const cumulative = metric.adds && params.get('cumulative') === '1'
  const compared = params.get('compare') === '1'

  // One object for the chart, the table, the file and the links.
  const filters = { ...scope, ...filterQuery(params, all) }
  const spent = { ...filters, from: range.from, to: range.to }
  const live = range.open ? LIVE_SECONDS : undefined
  const chart = useApi(
    'GET /ui/api/spend/report',
    { query: { ...spent, group_by: step, split_by: group, split_top: SHOWN, limit: MOST_ROWS } },
    { live },
  )
  const list = usePages('GET /ui/api/spend/report', { query: { ...spent, group_by: group } }, { live })
  const summary = useApi('GET /ui/api/spend/summary', { query: spent }, { live })
  const length = Date.parse(range.to) - Date.parse(range.from)
  const from = new Date(Date.parse(range.from) - length).toISOString()
  const before = useApi(
    'GET /ui/api/spend/report',
    { query: { ...filters, from, to: range.from, group_by: group, limit: MOST_ROWS } },
    { enabled: compared },
  )
  const chartBefore = useApi(
    'GET /ui/api/spend/report',
    { query: { ...filters, from, to: range.from, group_by: step, limit: MOST_ROWS } },
    { enabled: compared },
  )
  // Where there is nothing, it is told when there was something at last.
  const isEmpty = list.rows.length === 0 && !list.pending && !list.error
  const last = useApi('GET /ui/api/logs', { query: { ...filters, to: range.to, limit: 1 } }, { enabled: isEmpty })
  const columns = columnsOf({
    group,
    metric,
    total: summary.data?.total,
    before: compared ? before.data?.data : undefined,
  })
  const file = (format: 'csv' | 'jsonl') =>
    addressOf('GET /ui/api/spend/report', { query: { ...spent, group_by: group, format } })
  const [lastCall] = last.data?.data ?? []
  const narrowed = Object.keys(filterQuery(params, all)).length > 0
  useEffect(() => shortcut('r', 'Refresh', () => void refresh('/ui/api/spend')), [])

  return (
    <Page
      title="Usage"
      lead={
        may('spend.read') ? undefined : 'Your own calls. To see the calls of others you need the permission spend.read.'
      }
      actions={<Downloads file={file} />}
    >
      <div class="bar">
        <RangePicker range={range} />
        <Choice
          label="Metric"
          current={name}
          options={METRICS}
          onChange={(value) => params.set({ metric: value === 'spend' ? undefined : value })}
        />
        <Choice
          label="Grouped by"
          prefix="by "
          current={group}
          options={GROUPS}
          onChange={(value) => params.set({ group_by: value === 'model' ? undefined : value })}
        />
        <Filters filters={all} />
        <span class="end row">
          {canBeHours(range) && (
            <Segmented
              label="Step of the chart"
              options={[
                { id: 'hour', label: 'Hours' },
                { id: 'day', label: 'Days' },
              ]}
              current={step}
              onChange={(value) => params.set({ step: value })}
            />
          )}
          {metric.adds && (
            <Toggle
              label="Cumulative"
              on={cumulative}
              onChange={(on) => params.set({ cumulative: on ? '1' : undefined })}
            />
          )}
        </span>
      </div>
      <Loaded of={chart} lines={6}>
        {({ data }) => (
          <OverTime
            rows={data}
            before={
              compared && chartBefore.data?.data.length
                ? { from, to: range.from, rows: chartBefore.data.data }
                : undefined
            }
            {...{ range, step, group, name, metric, cumulative }}
          />
        )}
      </Loaded>
      <div class="bar">
        <Loaded of={summary} lines={1}>
          {({ total, previous }) => <Footnotes {...{ total, previous, metric, group }} />}
        </Loaded>
        <span class="end row">
          <Toggle
            label="Compare with before"
            on={compared}
            onChange={(on) => params.set({ compare: on ? '1' : undefined })}
          />
          <Views page="usage" />
          <ColumnChoice name="usage" columns={columns} />
        </span>
      </div>
      <ListTable
        name="usage"
        label="Groups"
        list={list}
        columns={columns}
        rowId={({ group: value }) => value ?? ''}
        href={(row) => leadsTo(row, group, { ...filters, ...rangeOf(params) })}
        empty={
          <Empty
            title="No calls in this time"
            actions={
              narrowed && (
                <Button onClick={() => params.set(Object.fromEntries(all.map((one) => [one.name, undefined])))}>
                  Clear filters
                </Button>
              )
            }
          >
            {narrowed ? 'No call matches the filters' : 'None at all'}
            {lastCall ? (
              <>
                {' '}
                since <Moment at={lastCall.at} />.
              </>
            ) : (
              '.'
            )}
          </Empty>
        }
      />
    </Page>
  )
}

/** The range of this page for another: the requests have another usual one. */
const rangeOf = (params: ReturnType<typeof useParams>) => ({ range: '7d', ...rangeParams(params) })

/** One of several, of which the one that is chosen is seen. */
function Choice<Name extends string>({
  label,
  prefix = '',
  current,
  options,
  onChange,
}: {
  readonly label: string
  readonly prefix?: string
  readonly current: Name
  readonly options: Readonly<Record<Name, { readonly label: string }>>
  readonly onChange: (name: Name) => void
}) {
  const name = options[current].label
  return (
    <Menu
      label={label}
      class="button small"
      items={(Object.keys(options) as Name[]).map((id) => ({
        label: options[id].label,
        checked: id === current,
        onSelect: () => onChange(id),
      }))}
    >
      {prefix ? `${prefix}${name.toLowerCase()}` : name}
    </Menu>
  )
}

const Toggle = ({
  label,
  on,
  onChange,
}: {
  readonly label: string
  readonly on: boolean
  readonly onChange: (on: boolean) => void
}) => (
  <Button small aria-pressed={on} onClick={() => onChange(!on)}>
    {label}
  </Button>
)
