import type { ComponentChildren } from 'preact'
import { usePages } from '../data/paging.ts'
import { useParams } from '../data/params.ts'
import { useMay } from '../data/session.ts'
import { Badge, Cut } from '../design/badge.tsx'
import { Button } from '../design/button.tsx'
import { SearchField } from '../design/filters.tsx'
import { ColumnChoice } from '../design/list/columns.tsx'
import { useMaking } from '../design/list/making.tsx'
import { Page } from '../design/page.tsx'
import { Empty } from '../design/states.tsx'
import { type Column, ListTable } from '../design/table.tsx'
import { Segmented } from '../design/tabs.tsx'
import { Ago } from '../design/time.tsx'
import type { Prompt } from './prompts/prompt.ts'
import { PromptEditor } from './prompts/prompt-editor.tsx'
import { PromptPanel } from './prompts/prompt-panel.tsx'

const STATES = [
  { id: 'active', label: 'Active' },
  { id: 'archived', label: 'Archived' },
  { id: 'any', label: 'All' },
] as const

const COLUMNS: ReadonlyArray<Column<Prompt>> = [
  {
    id: 'key',
    label: 'Prompt',
    cell: (prompt) => <Cut>{prompt.key}</Cut>,
  },
  { id: 'labels', label: 'Labels', cell: (prompt) => <Labels of={prompt} /> },
  { id: 'latest', label: 'Newest version', number: true, priority: 2, cell: ({ latest }) => latest },
  {
    id: 'description',
    label: 'Description',
    priority: 3,
    cell: ({ description }) => description || <span class="quiet">–</span>,
  },
  {
    id: 'state',
    label: 'State',
    priority: 3,
    cell: ({ state }) => (state === 'archived' ? 'archived' : <span class="quiet">active</span>),
  },
  { id: 'changed', label: 'Changed', priority: 2, cell: ({ updated_at: at }) => <Ago at={at} /> },
  { id: 'created', label: 'Created', optional: true, cell: ({ created_at: at }) => <Ago at={at} /> },
]

function Labels({ of: { labels } }: { readonly of: Prompt }) {
  const names = Object.keys(labels).sort()
  if (names.length === 0) return <span class="quiet">none</span>
  return (
    <>
      {names.map((label) => (
        <span key={label}>
          <Badge>
            {label} → {labels[label]}
          </Badge>{' '}
        </span>
      ))}
    </>
  )
}

export function Prompts() {
  const params = useParams()
  const mayWrite = useMay()('config.update')
  const state = STATES.find(({ id }) => id === params.get('state'))?.id ?? 'active'
  const search = params.get('search') || undefined
  const list = usePages('GET /ui/api/prompts', { query: { search, state } })
  const open = params.get('open') || undefined
  const show = (key: string | undefined) =>
    params.set(
      { open: key, tab: key && params.get('tab'), version: undefined, from: undefined, to: undefined },
      { replace: open !== undefined && key !== undefined },
    )
  const making = useMaking('New prompt', mayWrite)
  return (
    <Page
      title="Prompts"
      actions={making.button}
      lead="Templates that calls use by name. Versions never change; labels decide which version a call gets."
      panel={open && <PromptPanel key={open} id={open} onClose={() => show(undefined)} />}
    >
      <div class="bar">
        <SearchField label="Search prompts" />
        <Segmented
          label="State"
          options={STATES}
          current={state}
          onChange={(id) => params.set({ state: id === 'active' ? undefined : id })}
        />
        <span class="end">
          <ColumnChoice name="prompts" columns={COLUMNS} />
        </span>
      </div>
      <ListTable
        name="prompts"
        label="Prompts"
        list={list}
        columns={COLUMNS}
        rowId={({ key }) => key}
        href={({ key }) => params.with({ open: key, version: undefined, from: undefined, to: undefined })}
        onOpen={({ key }) => show(key)}
        open={open}
        fresh={making.made}
        empty={
          <Nothing
            search={search}
            state={state}
            create={making.button}
            onClear={() => params.set({ search: undefined })}
          />
        }
      />
      {making.isOpen && (
        <PromptEditor
          onClose={making.close}
          onDone={({ key }) => {
            making.done(key)
            show(key)
          }}
        />
      )}
    </Page>
  )
}

function Nothing({
  search,
  state,
  create,
  onClear,
}: {
  readonly search: string | undefined
  readonly state: string
  readonly create: ComponentChildren
  readonly onClear: () => void
}) {
  if (search) {
    return <Empty title="No prompt matches" actions={<Button onClick={onClear}>Clear the search</Button>} />
  }
  if (state === 'archived') return <Empty title="No prompt is archived">Calls cannot name an archived prompt.</Empty>
  return (
    <Empty title="There are no prompts yet" actions={create}>
      A prompt is kept here instead of in your code, so that you can change it, try it and roll it back without a
      release. A call names it in metadata.prompt_ref and gives the values of its variables.
    </Empty>
  )
}
