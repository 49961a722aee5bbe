import { useEffect, useMemo, useState } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import { addressOf } from '../data/client.ts'
import { usePages } from '../data/paging.ts'
import { useOpen, useParams } from '../data/params.ts'
import { useScope } from '../data/scope.ts'
import { useMay, useSession } from '../data/session.ts'
import { shortcut } from '../data/shortcuts.ts'
import { type TimeRange, useTimeRange } from '../data/time-range.ts'
import { Button } from '../design/button.tsx'
import { Filters, filterQuery, SearchField } from '../design/filters.tsx'
import { ColumnChoice } from '../design/list/columns.tsx'
import { Downloads } from '../design/list/downloads.tsx'
import { Views } from '../design/list/views.tsx'
import { Page } from '../design/page.tsx'
import { Empty } from '../design/states.tsx'
import { ListTable } from '../design/table.tsx'
import { Tabs } from '../design/tabs.tsx'
import { RangePicker } from '../design/time-range.tsx'
import { columnsFor } from './requests/columns.tsx'
import { filtersFor, isSummed } from './requests/filters.ts'
import { FirstCall } from './requests/first-call.tsx'
import { Histogram } from './requests/histogram.tsx'
import { useNewCalls } from './requests/new-calls.ts'
import { filtersRefusals, Refusals } from './requests/refusals.tsx'
import { StoryPage } from './requests/story-page.tsx'
import { copyId, StoryPanel } from './requests/story-panel.tsx'

const TABS = [
  { id: 'calls', label: 'Calls' },
  { id: 'refusals', label: 'Refusals' },
] as const

/** Sums are of whole hours: of less there is no chart. */
const isOfHours = ({ from, to }: TimeRange) => Date.parse(to) - Date.parse(from) >= 3_600_000

const CALL_ID = /^call[_-]/

/** Every call, with its story; and what was refused before it became one. Under the id of a call, its story alone. */
export function Requests() {
  const { id } = useRoute().params
  return id ? <StoryPage key={id} id={id} /> : <Calls />
}

function Calls() {
  const params = useParams()
  const may = useMay()
  const { pages } = useSession()
  const scope = useScope()
  const range = useTimeRange('24h', { hours: true, minutes: true })
  const [live, setLive] = useState(true)
  const filters = useMemo(() => filtersFor(may), [])
  const columns = useMemo(() => columnsFor(pages), [pages])
  const tab = params.get('tab') === 'refusals' ? 'refusals' : 'calls'
  const filter: Record<string, string> = {
    ...scope,
    ...filterQuery(params, filters),
    // Who sees nobody else's calls sees their own.
    ...(may('spend.read') ? {} : { owner: 'me' }),
  }
  // A request is found by its id whenever it was.
  const query = tab === 'calls' && filter.request_id ? filter : { ...filter, from: range.from, to: range.to }
  const read = usePages(
    'GET /ui/api/logs',
    { query },
    { enabled: tab === 'calls', live: live && range.open ? 2 : undefined },
  )
  const { list, waiting, show } = useNewCalls(read, query)
  const [open, openCall] = useOpen()
  const filtered = Object.keys(filterQuery(params, filters)).length > 0
  const file = (format: string) => addressOf('GET /ui/api/logs', { query: { ...query, format } })
  // Where a request id is looked for, the id of a call is as welcome.
  const wanted = params.get('request_id')
  useEffect(() => {
    if (CALL_ID.test(wanted)) params.set({ request_id: undefined, open: wanted }, { replace: true })
  }, [wanted])
  useEffect(() => {
    const ends = [
      shortcut('l', 'Live on or off', () => setLive((on) => !on)),
      shortcut('e', 'Export', () => document.querySelector<HTMLElement>('[data-export] a')?.click()),
      shortcut('y', 'Copy the id of the call', () => {
        const row = document.activeElement?.closest<HTMLElement>('tr[data-id]')
        if (row?.dataset.id) copyId(row.dataset.id)
      }),
    ]
    return () => {
      for (const end of ends) end()
    }
  }, [])
  return (
    <Page
      title="Requests"
      actions={<RangePicker range={range} />}
      panel={open && <StoryPanel key={open} id={open} onClose={() => openCall(undefined)} />}
    >
      <Tabs
        tabs={TABS}
        current={tab}
        onChange={(id) => params.set({ tab: id === 'calls' ? undefined : id })}
        label="Requests"
      />
      <div class="bar">
        {tab === 'calls' && <SearchField label="Request or call id" param="request_id" />}
        <Filters
          filters={
            tab === 'refusals' ? filters.filter(filtersRefusals) : filters.filter(({ name }) => name !== 'request_id')
          }
        />
        <span class="end row">
          {tab === 'calls' && (
            <>
              {range.open && (
                <Button small aria-pressed={live} onClick={() => setLive(!live)}>
                  {live ? 'Live' : 'Paused'}
                </Button>
              )}
              <Downloads file={file} most="At most 100,000 rows" />
            </>
          )}
          <Views page="requests" />
          {tab === 'calls' && <ColumnChoice name="requests" columns={columns} />}
        </span>
      </div>
      {tab === 'refusals' ? (
        <Refusals query={query} />
      ) : (
        <>
          {isSummed(filter) && isOfHours(range) && <Histogram range={range} query={filter} />}
          {waiting > 0 && (
            <p role="status">
              <Button small onClick={show}>
                {waiting >= 100 ? '100 or more' : waiting} new {waiting === 1 ? 'call' : 'calls'}
              </Button>
            </p>
          )}
          <ListTable
            name="requests"
            label="Requests"
            dense
            list={list}
            columns={columns}
            rowId={({ call_id }) => call_id}
            href={({ call_id }) => params.with({ open: call_id })}
            onOpen={({ call_id }) => openCall(call_id)}
            open={open}
            empty={
              filtered ? (
                <Empty
                  title="No call matches"
                  actions={
                    <Button
                      onClick={() => params.set(Object.fromEntries(filters.map(({ name }) => [name, undefined])))}
                    >
                      Clear filters
                    </Button>
                  }
                >
                  No call in this range matches the filters.
                </Empty>
              ) : (
                <FirstCall waits={live && range.open} />
              )
            }
          />
        </>
      )}
    </Page>
  )
}
