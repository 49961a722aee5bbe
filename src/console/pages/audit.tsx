import { useEffect, useState } from 'preact/hooks'
import { addressOf } from '../data/client.ts'
import { type AuditEvent, actorOf, deed, resourceOf } from '../data/deeds.ts'
import { lookups } from '../data/lookups.ts'
import { usePages } from '../data/paging.ts'
import { useOpen, useParams } from '../data/params.ts'
import { useApi } from '../data/query.ts'
import { useScope } from '../data/scope.ts'
import { shortcut } from '../data/shortcuts.ts'
import { useTimeRange } from '../data/time-range.ts'
import { Entity } from '../design/badge.tsx'
import { Button } from '../design/button.tsx'
import { type Filter, Filters, filterQuery } from '../design/filters.tsx'
import { count } from '../design/format.ts'
import { ColumnChoice } from '../design/list/columns.tsx'
import { Downloads } from '../design/list/downloads.tsx'
import { Page } from '../design/page.tsx'
import { Panel } from '../design/panel.tsx'
import { Empty, Loaded } from '../design/states.tsx'
import { type Column, ListTable } from '../design/table.tsx'
import { Moment } from '../design/time.tsx'
import { RangePicker } from '../design/time-range.tsx'
import { recent } from '../design/time-words.ts'
import { EventPanel, Refusal } from './audit/event-panel.tsx'

/** More are read page by page by the API. */
const MOST_EXPORTED = 1000

const FILTERS: readonly Filter[] = [
  { name: 'action', label: 'Action' },
  { name: 'resource_type', label: 'Kind of resource' },
  { name: 'resource_id', label: 'Resource' },
  {
    name: 'status',
    label: 'Outcome',
    choices: [
      { value: 'ok', label: 'done' },
      { value: 'refused', label: 'refused' },
    ],
  },
  { name: 'request_id', label: 'Request id' },
  { name: 'actor_id', label: 'Actor' },
  { name: 'organization_id', label: 'Organization', lookup: lookups.organization },
]

const COLUMNS: ReadonlyArray<Column<AuditEvent>> = [
  { id: 'time', label: 'Time', cell: (event) => <Moment at={event.occurred_at} as={recent} /> },
  { id: 'actor', label: 'Actor', cell: actorOf },
  {
    id: 'action',
    label: 'What was done',
    cell: (event) => (
      <span class="wraps">
        {deed(event).words} <Refusal event={event} />
      </span>
    ),
  },
  {
    id: 'resource',
    label: 'Resource',
    priority: 2,
    cell: (event) =>
      deed(event).namesResource ? (
        <Entity name={resourceOf(event)} id={event.resource_id} />
      ) : (
        <span class="quiet">–</span>
      ),
  },
  { id: 'organization', label: 'Organization', priority: 3, cell: (event) => <Entity id={event.organization_id} /> },
  { id: 'ip', label: 'Address', priority: 3, cell: (event) => event.ip ?? <span class="quiet">–</span> },
  { id: 'request', label: 'Request id', optional: true, cell: (event) => <span class="mono">{event.request_id}</span> },
]

export function Audit() {
  const params = useParams()
  const scope = useScope()
  const range = useTimeRange('7d', { hours: true, minutes: true })
  const [live, setLive] = useState(false)
  const filters = {
    ...(scope.organization_id ? { organization_id: scope.organization_id } : {}),
    ...filterQuery(params, FILTERS),
  }
  // A range up to now has no end: what comes next belongs to it.
  const query = { ...filters, from: range.from, ...(range.open ? {} : { to: range.to }) }
  const list = usePages('GET /ui/api/audit/events', { query }, { live: live ? 10 : undefined })
  const [open, show] = useOpen()
  const listed = list.rows.find(({ event_id }) => event_id === open)
  // An address keeps its event, however many came after it.
  const isElsewhere = open !== undefined && listed === undefined && !list.pending
  const one = useApi('GET /ui/api/audit/events', { query: { event_id: open, limit: 1 } }, { enabled: isElsewhere })
  const event = listed ?? one.data?.data.find(({ event_id }) => event_id === open)
  useEffect(() => shortcut('l', live ? 'Stop following' : 'Follow live', () => setLive(!live)), [live])
  const file = (format: 'csv' | 'jsonl') =>
    addressOf('GET /ui/api/audit/events', { query: { ...query, format, limit: MOST_EXPORTED } })
  const narrowed = Object.keys(filterQuery(params, FILTERS)).length > 0
  return (
    <Page
      title="Audit"
      actions={
        <>
          <Button small onClick={() => setLive(!live)} aria-pressed={live}>
            Live
          </Button>
          <Downloads file={file} most={`The newest ${count(MOST_EXPORTED)} events at most`} />
        </>
      }
      panel={
        event ? (
          <EventPanel key={event.event_id} event={event} onClose={() => show(undefined)} />
        ) : (
          isElsewhere && (
            <Panel key={open} title="Event" onClose={() => show(undefined)}>
              <Loaded of={one}>
                {() => !one.isPlaceholderData && <p>There is no such event, or it is kept no longer.</p>}
              </Loaded>
            </Panel>
          )
        )
      }
    >
      <div class="bar">
        <RangePicker range={range} />
        <Filters filters={FILTERS} />
        <span class="end">
          <ColumnChoice name="audit" columns={COLUMNS} />
        </span>
      </div>
      <ListTable
        name="audit"
        label="Events"
        list={list}
        columns={COLUMNS}
        rowId={({ event_id }) => event_id}
        href={({ event_id }) => params.with({ open: event_id })}
        onOpen={({ event_id }) => show(event_id)}
        open={open}
        empty={
          <Empty
            title={narrowed ? 'No event matches' : 'Nothing was written in this time'}
            actions={
              narrowed && (
                <Button onClick={() => params.set(Object.fromEntries(FILTERS.map(({ name }) => [name, undefined])))}>
                  Clear filters
                </Button>
              )
            }
          >
            {narrowed
              ? undefined
              : 'Each change of the administration and each sign-in is written here, refused ones too.'}
          </Empty>
        }
      />
    </Page>
  )
}
