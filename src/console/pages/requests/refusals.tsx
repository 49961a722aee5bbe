import type { Row } from '../../data/client.ts'
import { usePages } from '../../data/paging.ts'
import { useParams } from '../../data/params.ts'
import { Entity } from '../../design/badge.tsx'
import type { Filter } from '../../design/filters.tsx'
import { count, dayAndTime } from '../../design/format.ts'
import { Empty } from '../../design/states.tsx'
import { type Column, ListTable } from '../../design/table.tsx'
import { Moment } from '../../design/time.tsx'
import { limitWords } from './call.ts'

type Refusal = Row<'GET /ui/api/refusals'>

const COLUMNS: ReadonlyArray<Column<Refusal>> = [
  { id: 'minute', label: 'Minute', cell: ({ minute }) => <Moment at={minute} as={dayAndTime} /> },
  { id: 'calls', label: 'Refused calls', number: true, cell: ({ calls }) => count(calls) },
  { id: 'code', label: 'Why', cell: ({ code }) => limitWords(code) },
  { id: 'scope', label: 'By', cell: ({ scope }) => (scope ? limitWords(scope) : <span class="quiet">–</span>) },
  { id: 'key', label: 'Key', cell: ({ key_id, key_name }) => <Entity id={key_id} name={key_name} /> },
  {
    id: 'team',
    label: 'Team',
    priority: 2,
    cell: ({ team_id, team_name }) => <Entity id={team_id} name={team_name} />,
  },
  { id: 'endpoint', label: 'Endpoint', priority: 3, cell: ({ endpoint }) => <span class="mono">{endpoint}</span> },
]

const TAKEN = ['key_id', 'team_id', 'organization_id', 'user_id', 'endpoint', 'from', 'to', 'owner']
/** Of the filters of calls, those that are filters of refusals too. */
export const filtersRefusals = ({ name }: Filter): boolean => TAKEN.includes(name)

/** Calls that were refused before they began, by minute: limits, budgets and what a key may not call. */
export function Refusals({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const params = useParams()
  const taken = Object.fromEntries(Object.entries(query).filter(([name]) => TAKEN.includes(name)))
  const list = usePages('GET /ui/api/refusals', { query: taken }, { live: 30 })
  return (
    <ListTable
      name="refusals"
      label="Refused calls"
      list={list}
      columns={COLUMNS}
      rowId={(one) => [one.minute, one.key_id, one.user_id, one.endpoint, one.code, one.scope].join(' ')}
      href={({ key_id, minute }) =>
        params.with({
          tab: undefined,
          key_id: key_id ?? undefined,
          range: undefined,
          from: minute,
          to: new Date(new Date(minute).getTime() + 60_000).toISOString(),
        })
      }
      empty={
        <Empty title="Nothing was refused">
          A call beyond a limit or a budget, or of a model that its key may not call, is counted here by the minute.
        </Empty>
      }
    />
  )
}
