import { useState } from 'preact/hooks'
import { usePages } from '../../data/paging.ts'
import { pathTo } from '../../data/params.ts'
import { useMay } from '../../data/session.ts'
import { Badge } from '../../design/badge.tsx'
import { count, money } from '../../design/format.ts'
import { Empty } from '../../design/states.tsx'
import { type Column, ListTable } from '../../design/table.tsx'
import { Segmented } from '../../design/tabs.tsx'
import type { Item } from './batch.tsx'

const STATES = [
  { id: 'any', label: 'All' },
  { id: 'failed', label: 'Failed' },
  { id: 'running', label: 'Running' },
  { id: 'completed', label: 'Completed' },
] as const

const columnsFor = (mayRead: boolean): ReadonlyArray<Column<Item>> => [
  {
    id: 'id',
    label: 'Request',
    cell: ({ custom_id: id, item, call_id: call }) =>
      call && mayRead ? <a href={pathTo('requests', { open: call })}>{id ?? item}</a> : (id ?? item),
  },
  {
    id: 'state',
    label: 'State',
    cell: ({ state, status }) =>
      state === 'failed' ? <Badge tone="bad">failed{status === null ? '' : ` ${status}`}</Badge> : state,
  },
  { id: 'error', label: 'Error', priority: 2, cell: ({ error }) => error ?? <span class="quiet">none</span> },
  { id: 'tries', label: 'Tries', number: true, priority: 3, cell: ({ tries }) => count(tries) },
  {
    id: 'tokens',
    label: 'Tokens',
    number: true,
    priority: 3,
    cell: ({ input_tokens: into, output_tokens: out }) => `${count(into)} → ${count(out)}`,
  },
  {
    id: 'cost',
    label: 'Cost',
    number: true,
    priority: 3,
    cell: ({ cost, state }) => (state === 'waiting' ? '–' : money(cost)),
  },
]

/** The requests of a batch with their outcomes. */
export function Items({ batch, live }: { readonly batch: string; readonly live: number | undefined }) {
  const may = useMay()
  const [state, setState] = useState<(typeof STATES)[number]['id']>('any')
  const query = state === 'any' ? {} : { state }
  const list = usePages('GET /ui/api/batches/{batch_id}/items', { params: { batch_id: batch }, query }, { live })
  return (
    <>
      <Segmented label="Which requests" options={STATES} current={state} onChange={setState} />
      <ListTable
        name="batch-items"
        label="Requests"
        list={list}
        columns={columnsFor(may('spend.read'))}
        rowId={({ item }) => String(item)}
        empty={<Empty title={state === 'any' ? 'No request was read yet' : `No request is ${state}`} />}
      />
    </>
  )
}
