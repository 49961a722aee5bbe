import { lookups } from '../data/lookups.ts'
import { usePages } from '../data/paging.ts'
import { useOpen, useParams } from '../data/params.ts'
import { useMay } from '../data/session.ts'
import { Badge, Cut } from '../design/badge.tsx'
import { Button } from '../design/button.tsx'
import { type Filter, Filters, filterQuery, SearchField } from '../design/filters.tsx'
import { ColumnChoice } from '../design/list/columns.tsx'
import { Page } from '../design/page.tsx'
import { short } from '../design/rounded.ts'
import { Empty } from '../design/states.tsx'
import { type Column, ListTable } from '../design/table.tsx'
import { HealthWord } from './models/health-word.tsx'
import { KINDS, MODES, type Model, modesOf, priceOf, pricesOf } from './models/model.ts'
import { ModelPanel } from './models/model-panel.tsx'

const MODE_CHOICES = Object.entries(MODES).map(([value, label]) => ({ value, label }))

const COLUMNS: ReadonlyArray<Column<Model>> = [
  { id: 'name', label: 'Model', cell: (model) => <Cut>{model.name}</Cut> },
  { id: 'health', label: 'Health', cell: (model) => <HealthWord of={model} /> },
  {
    id: 'kind',
    label: 'Kind',
    priority: 3,
    cell: (model) => (model.stands_for ? `alias of ${model.stands_for}` : KINDS[model.kind]),
  },
  { id: 'modes', label: 'Takes', priority: 3, cell: modesOf },
  {
    id: 'input',
    label: '$ / 1M in',
    number: true,
    priority: 2,
    cell: (model) => priceOf(model, 'input_cost_per_token') ?? <NoTokenPrice of={model} />,
  },
  {
    id: 'output',
    label: '$ / 1M out',
    number: true,
    priority: 2,
    cell: (model) => priceOf(model, 'output_cost_per_token') ?? <NoTokenPrice of={model} />,
  },
  {
    id: 'context',
    label: 'Input tokens',
    number: true,
    priority: 3,
    cell: ({ max_input_tokens: most }) => (most === null ? <span class="quiet">–</span> : short(most)),
  },
  {
    id: 'labels',
    label: 'Labels',
    priority: 3,
    cell: (model) =>
      model.access_groups.map((label) => (
        <>
          <Badge>{label}</Badge>{' '}
        </>
      )),
  },
]

/** Where nothing is paid by tokens: another price, or none at all. */
function NoTokenPrice({ of: model }: { readonly of: Model }) {
  const others = pricesOf(model)
  return (
    <span class="quiet" title={others.map(([label, price]) => `${label}: ${price}`).join(', ') || undefined}>
      {others.length > 0 ? '–' : 'no price'}
    </span>
  )
}

export function Models() {
  const params = useParams()
  const may = useMay()
  const filters: readonly Filter[] = [
    { name: 'mode', label: 'Takes', choices: MODE_CHOICES },
    ...(may('key.read') ? [{ name: 'key_id', label: 'As key', lookup: lookups.key }] : []),
  ]
  const query = { ...filterQuery(params, filters), search: params.get('search') || undefined }
  const list = usePages('GET /ui/api/callable-models', { query }, { live: 30 })
  const [open, show] = useOpen()
  const filtered = Object.values(query).some(Boolean)
  return (
    <Page
      title="Models"
      lead="What you may call, by the names that calls use. Prices are those of the cheapest to the dearest deployment."
      panel={open && <ModelPanel key={open} name={open} onClose={() => show(undefined)} />}
    >
      <div class="bar">
        <SearchField label="Search models" />
        <Filters filters={filters} />
        <span class="end">
          <ColumnChoice name="models" columns={COLUMNS} />
        </span>
      </div>
      <ListTable
        name="models"
        label="Models"
        list={list}
        columns={COLUMNS}
        rowId={(model) => model.name}
        href={(model) => params.with({ open: model.name })}
        onOpen={(model) => show(model.name)}
        open={open}
        empty={
          filtered ? (
            <Empty
              title="No model matches"
              actions={
                <Button onClick={() => params.set({ search: undefined, mode: undefined, key_id: undefined })}>
                  Clear filters
                </Button>
              }
            />
          ) : (
            <Empty title="You may call no model">
              The administrators of your organization or team decide which models you may call. Only those are shown
              here.
            </Empty>
          )
        }
      />
    </Page>
  )
}
