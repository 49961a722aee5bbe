import type { Row } from '../../data/client.ts'
import { pathTo } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { Cut, State, type Tone } from '../../design/badge.tsx'
import { ButtonLink } from '../../design/button.tsx'
import { duration, money } from '../../design/format.ts'
import { Empty, Loaded } from '../../design/states.tsx'
import { type Column, Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'

type Call = Row<'GET /ui/api/logs'>

const ENDINGS: Readonly<Record<Call['ending'], { readonly word: string; readonly tone: Tone }>> = {
  answered: { word: 'answered', tone: 'quiet' },
  failed: { word: 'failed', tone: 'bad' },
  truncated: { word: 'cut', tone: 'warn' },
  client_closed: { word: 'client left', tone: 'quiet' },
}

const COLUMNS: ReadonlyArray<Column<Call>> = [
  { id: 'at', label: 'Time', cell: (call) => <Ago at={call.at} /> },
  {
    id: 'ending',
    label: 'Ending',
    cell: (call) => {
      const { word, tone } = ENDINGS[call.ending]
      return <State tone={tone}>{call.ending === 'failed' ? `${word} ${call.status}` : word}</State>
    },
  },
  { id: 'model', label: 'Model', cell: (call) => <Cut>{call.model ?? call.requested_model}</Cut> },
  { id: 'cost', label: 'Cost', number: true, cell: (call) => money(call.cost) },
  { id: 'total', label: 'Total', number: true, cell: (call) => duration(call.total_ms) },
]

/** The last calls: of a key, or one's own. */
export function LastCalls({ query }: { readonly query: { readonly key_id: string } | { readonly owner: 'me' } }) {
  const read = useApi('GET /ui/api/logs', { query: { ...query, limit: 25 } }, { live: 10 })
  return (
    <Loaded of={read}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title="No call is in the log">A call is there a moment after it has ended.</Empty>
        ) : (
          <>
            <Table
              name="last-calls"
              label="The last calls"
              columns={COLUMNS}
              rows={data}
              rowId={(call) => call.call_id}
              href={(call) => pathTo('requests', { ...query, open: call.call_id })}
            />
            <div class="row">
              <ButtonLink small href={pathTo('requests', { ...query, range: '30d' })}>
                All of these calls
              </ButtonLink>
            </div>
          </>
        )
      }
    </Loaded>
  )
}
