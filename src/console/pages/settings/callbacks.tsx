import { useChange } from '../../data/change.ts'
import type { Row } from '../../data/client.ts'
import { useApi } from '../../data/query.ts'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { count, duration } from '../../design/format.ts'
import { Empty, Loaded } from '../../design/states.tsx'
import { type Column, Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { toast } from '../../design/toast.tsx'

type Sink = Row<'GET /ui/api/callbacks'>

const COLUMNS: ReadonlyArray<Column<Sink>> = [
  { id: 'name', label: 'Sink', cell: ({ name }) => name },
  { id: 'queued', label: 'Waiting', number: true, cell: ({ queued }) => count(queued) },
  { id: 'delivered', label: 'Delivered', number: true, cell: ({ delivered }) => count(delivered) },
  {
    id: 'dropped',
    label: 'Dropped',
    number: true,
    cell: ({ dropped }) => (dropped > 0 ? <Badge tone="bad">{count(dropped)}</Badge> : '0'),
  },
  { id: 'failures', label: 'Failures', number: true, priority: 2, cell: ({ failures }) => count(failures) },
  {
    id: 'success',
    label: 'Last success',
    priority: 2,
    cell: ({ last_success_at: at }) => <Ago at={at} never="none yet" />,
  },
  {
    id: 'error',
    label: 'Last error',
    priority: 3,
    cell: ({ last_error: error, last_error_at: at }) =>
      error === null ? (
        <span class="quiet">none</span>
      ) : (
        <>
          {error} <span class="quiet">{at && <Ago at={at} />}</span>
        </>
      ),
  },
  { id: 'test', label: 'Test', cell: ({ name }) => <Test name={name} /> },
]

/** The callbacks and the states of their sinks in this process. */
export function Callbacks() {
  const read = useApi('GET /ui/api/callbacks', {}, { live: 10 })
  return (
    <Loaded of={read}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title="No sink is set up">
            <span>
              Name them in <span class="mono">gateway_settings.success_callback</span>: webhook, otel, langfuse, s3.
            </span>
          </Empty>
        ) : (
          <Table name="sinks" label="Sinks" columns={COLUMNS} rows={data} rowId={({ name }) => name} />
        )
      }
    </Loaded>
  )
}

function Test({ name }: { readonly name: string }) {
  const test = useChange('POST /ui/api/callbacks/{name}/test', { refreshes: ['/ui/api/callbacks'] })
  const send = () =>
    test.mutate(
      { params: { name } },
      {
        onSuccess: ({ delivered, answer, milliseconds }) =>
          toast(`${name}, after ${duration(milliseconds)}: ${answer}`, { bad: !delivered }),
        onError: (error) => toast(error.message, { bad: true }),
      },
    )
  return (
    <Button small busy={test.isPending} onClick={send} label={`Send a test to ${name}`}>
      Send a test
    </Button>
  )
}
