import { useEffect, useState } from 'preact/hooks'
import { lookups } from '../data/lookups.ts'
import { usePages } from '../data/paging.ts'
import { pathTo, useOpen, useParams } from '../data/params.ts'
import { useScope } from '../data/scope.ts'
import { shortcut } from '../data/shortcuts.ts'
import { Cut, Entity } from '../design/badge.tsx'
import { Button } from '../design/button.tsx'
import { Code } from '../design/code.tsx'
import { type Filter, Filters, filterQuery } from '../design/filters.tsx'
import { money } from '../design/format.ts'
import { ColumnChoice } from '../design/list/columns.tsx'
import { NoMatch } from '../design/list/no-match.tsx'
import { Page } from '../design/page.tsx'
import { Empty, Notice } from '../design/states.tsx'
import { type Column, ListTable } from '../design/table.tsx'
import { Ago } from '../design/time.tsx'
import { type Batch, BatchState, isOver, Progress } from './batches/batch.tsx'
import { BatchPanel } from './batches/batch-panel.tsx'
import { NewBatch } from './batches/new-batch.tsx'

const LIVE_SECONDS = 5

const STATUSES = [
  'validating',
  'in_progress',
  'finalizing',
  'completed',
  'failed',
  'expired',
  'cancelling',
  'cancelled',
]
const FILTERS: readonly Filter[] = [
  { name: 'status', label: 'State', choices: STATUSES.map((value) => ({ value, label: value.replaceAll('_', ' ') })) },
  { name: 'team_id', label: 'Team', lookup: lookups.team },
  { name: 'key_id', label: 'Key', lookup: lookups.key },
  { name: 'endpoint', label: 'Endpoint' },
]

const COLUMNS: ReadonlyArray<Column<Batch>> = [
  { id: 'id', label: 'Batch', cell: ({ id }) => <Cut mono>{id}</Cut> },
  { id: 'state', label: 'State', cell: (batch) => <BatchState batch={batch} /> },
  { id: 'progress', label: 'Done', cell: (batch) => <Progress batch={batch} /> },
  { id: 'endpoint', label: 'Endpoint', priority: 3, cell: ({ endpoint }) => <span class="mono">{endpoint}</span> },
  {
    id: 'key',
    label: 'Key',
    priority: 2,
    cell: (one) => <Entity name={one.key_name} id={one.key_id} href={pathTo('keys', { open: one.key_id })} />,
  },
  {
    id: 'team',
    label: 'Team',
    priority: 3,
    cell: (one) => (
      <Entity
        name={one.team_name}
        id={one.team_id}
        href={one.team_id ? pathTo('teams', { open: one.team_id }) : undefined}
      />
    ),
  },
  { id: 'cost', label: 'Cost', number: true, priority: 2, cell: ({ cost }) => money(cost) },
  { id: 'created', label: 'Begun', priority: 2, cell: ({ created_at: at }) => <Ago at={at} /> },
  {
    id: 'ends',
    label: 'Ends',
    priority: 3,
    cell: (one) => (isOver(one) ? <span class="quiet">over</span> : <Ago at={one.estimated_end ?? one.expires_at} />),
  },
]

const LINES = `{"custom_id":"one","method":"POST","url":"/v1/chat/completions","body":{"model":"…","messages":[{"role":"user","content":"Hi"}]}}
{"custom_id":"two","method":"POST","url":"/v1/chat/completions","body":{"model":"…","messages":[{"role":"user","content":"Ho"}]}}`

const EXAMPLE = () => `curl ${location.origin}/v1/files -H "Authorization: Bearer $KEY" \\
  -F purpose=batch -F file=@requests.jsonl
curl ${location.origin}/v1/batches -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"input_file_id":"file-…","endpoint":"/v1/chat/completions","completion_window":"24h"}'`

export function Batches() {
  const params = useParams()
  const scope = useScope()
  const query = {
    ...(scope.team_id ? { team_id: scope.team_id } : {}),
    ...filterQuery(params, FILTERS),
  }
  const list = usePages('GET /ui/api/batches', { query }, { live: LIVE_SECONDS })
  const [open, show] = useOpen()
  const filtered = Object.keys(query).length > 0
  const off = list.error?.status === 404
  const [making, setMaking] = useState<{ readonly file?: File }>()
  useEffect(() => (off ? undefined : shortcut('c', 'New batch', () => setMaking({}))), [off])
  useEffect(() => (off ? undefined : filesDropped((file) => setMaking({ file }))), [off])
  return (
    <Page
      title="Batches"
      actions={
        !off && (
          <Button kind="primary" icon="plus" onClick={() => setMaking({})}>
            New batch
          </Button>
        )
      }
      panel={open && <BatchPanel key={open} id={open} onClose={() => show(undefined)} onOpen={show} />}
    >
      {off ? (
        <Notice tone="warn">
          Batches are switched off: set <span class="mono">general_settings.embeddings_batch_enabled: true</span> in the
          file.
        </Notice>
      ) : (
        <>
          <div class="bar">
            <Filters filters={FILTERS} />
            <span class="end">
              <ColumnChoice name="batches" columns={COLUMNS} />
            </span>
          </div>
          <ListTable
            name="batches"
            label="Batches"
            dense
            list={list}
            columns={COLUMNS}
            rowId={({ id }) => id}
            href={({ id }) => params.with({ open: id })}
            onOpen={({ id }) => show(id)}
            open={open}
            empty={
              filtered ? (
                <NoMatch
                  title="No batch matches"
                  filters={FILTERS.map(({ name }) => name)}
                  isInScope={scope.team_id !== undefined}
                />
              ) : (
                <>
                  <Empty
                    title="There are no batches yet"
                    actions={<Button onClick={() => setMaking({})}>New batch</Button>}
                  >
                    A file of requests goes in, a file of answers comes out within 24 hours. Each line runs like a call
                    of its own.
                  </Empty>
                  <Code text={LINES} label="Format of the file" />
                  <Code text={EXAMPLE()} label="Start a batch without the console" />
                </>
              )
            }
          />
          {making && (
            <NewBatch
              keyId={params.get('key_id') || undefined}
              file={making.file}
              onClose={() => setMaking(undefined)}
              onDone={(id) => {
                setMaking(undefined)
                show(id)
              }}
            />
          )}
        </>
      )}
    </Page>
  )
}

/** Calls with each file that is dropped on the page, where no dialog is open. */
function filesDropped(take: (file: File) => void): () => void {
  const holdsFile = (event: DragEvent) =>
    event.dataTransfer?.types.includes('Files') === true && !document.querySelector('dialog[open]')
  const over = (event: DragEvent) => holdsFile(event) && event.preventDefault()
  const drop = (event: DragEvent) => {
    const file = holdsFile(event) ? event.dataTransfer?.files[0] : undefined
    if (!file) return
    event.preventDefault()
    take(file)
  }
  addEventListener('dragover', over)
  addEventListener('drop', drop)
  return () => {
    removeEventListener('dragover', over)
    removeEventListener('drop', drop)
  }
}
