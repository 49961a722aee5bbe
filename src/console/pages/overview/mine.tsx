import type { Answer, Row } from '../../data/client.ts'
import { pathTo } from '../../data/params.ts'
import { State } from '../../design/badge.tsx'
import { budget, money } from '../../design/format.ts'
import { Meter } from '../../design/meter.tsx'
import { Section } from '../../design/page.tsx'
import { Loaded, type Read } from '../../design/states.tsx'
import { type Column, Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'

type Key = Row<'GET /ui/api/keys'>
type Call = Row<'GET /ui/api/logs'>

const KEYS: ReadonlyArray<Column<Key>> = [
  { id: 'key', label: 'Key', cell: ({ key_name: name, key_id: id }) => <span class="cut">{name ?? id}</span> },
  {
    id: 'spent',
    label: 'Spent of budget',
    cell: ({ spend, max_budget: most }) => (
      <Meter
        used={spend}
        of={most}
        text={most === null ? `${money(spend)}, no limit` : `${money(spend)} of ${budget(most)}`}
      />
    ),
  },
  {
    id: 'state',
    label: 'State',
    priority: 2,
    cell: ({ state }) => (
      <State tone={state === 'active' ? 'quiet' : state === 'over_budget' ? 'bad' : 'warn'}>
        {state.replaceAll('_', ' ')}
      </State>
    ),
  },
  { id: 'ends', label: 'Ends', priority: 2, cell: ({ expires_at: at }) => <Ago at={at} never="never" /> },
]

export function MyKeys({ keys }: { readonly keys: Read<Answer<'GET /ui/api/keys'>> }) {
  return (
    <Section title="My keys" actions={<a href={pathTo('my-keys')}>All my keys</a>}>
      <Loaded of={keys}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="quiet">
              You have none. <a href={pathTo('my-keys')}>Make one</a> where your team allows it.
            </p>
          ) : (
            <Table
              name="overview-keys"
              label="My keys"
              columns={KEYS}
              rows={data}
              rowId={({ key_id: id }) => id}
              href={({ key_id: id }) => pathTo('my-keys', { open: id })}
            />
          )
        }
      </Loaded>
    </Section>
  )
}

const FAILURES: ReadonlyArray<Column<Call>> = [
  { id: 'time', label: 'Time', cell: ({ at }) => <Ago at={at} /> },
  { id: 'model', label: 'Model', cell: ({ requested_model: model }) => <span class="cut">{model}</span> },
  {
    id: 'why',
    label: 'Why',
    cell: ({ status, error_type: error }) => (
      <State tone="bad">{`${status}${error ? ` ${error.replaceAll('_', ' ')}` : ''}`}</State>
    ),
  },
]

export function LastFailures({ failures }: { readonly failures: Read<Answer<'GET /ui/api/logs'>> }) {
  return (
    <Section title="My last failures" actions={<a href={pathTo('requests')}>All my calls</a>}>
      <Loaded of={failures}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="quiet">No call of yours failed in this time.</p>
          ) : (
            <Table
              name="overview-failures"
              label="My last failures"
              columns={FAILURES}
              rows={data}
              rowId={({ call_id: id }) => id}
              href={({ call_id: id }) => pathTo('requests', { open: id })}
            />
          )
        }
      </Loaded>
    </Section>
  )
}
