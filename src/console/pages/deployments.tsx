import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { usePages } from '../data/paging.ts'
import { useOpen, useParams } from '../data/params.ts'
import { useApi } from '../data/query.ts'
import { useMay } from '../data/session.ts'
import { shortcut } from '../data/shortcuts.ts'
import { Badge, Cut, State } from '../design/badge.tsx'
import { ButtonLink } from '../design/button.tsx'
import { StateOf } from '../design/deployment-state.tsx'
import { SearchField } from '../design/filters.tsx'
import { ColumnChoice } from '../design/list/columns.tsx'
import { Page } from '../design/page.tsx'
import { Empty, Loaded } from '../design/states.tsx'
import { type Column, ListTable } from '../design/table.tsx'
import { Tabs } from '../design/tabs.tsx'
import { Ago } from '../design/time.tsx'
import { Credentials } from './deployments/credentials.tsx'
import {
  type Deployment,
  limitWords,
  MODE_WORDS,
  type Mode,
  priceWords,
  texts,
  upstreamOf,
} from './deployments/deployment.ts'
import { DeploymentPanel } from './deployments/deployment-panel.tsx'
import { withoutSecrets } from './deployments/draft.ts'
import { Wizard } from './deployments/wizard.tsx'

const LIVE_SECONDS = 5
const quiet = (text: string) => <span class="quiet">{text}</span>

export function Deployments() {
  const params = useParams()
  const [fresh, setFresh] = useState<readonly string[]>([])
  const [purpose] = (['new', 'edit', 'override', 'copy'] as const).filter((one) => params.get(one))
  const back = (open?: string) =>
    params.set({ new: undefined, edit: undefined, override: undefined, copy: undefined, open })
  const done = (id: string) => {
    setFresh((before) => [id, ...before])
    back(id)
  }
  if (purpose === 'new') return <Wizard purpose="new" onDone={done} onCancel={back} />
  if (purpose) {
    const id = params.get(purpose)
    return <Changed key={`${purpose} ${id}`} id={id} purpose={purpose} onDone={done} onCancel={() => back(id)} />
  }
  const tab = params.get('tab') === 'credentials' ? 'credentials' : 'deployments'
  const tabs = (
    <Tabs
      label="Deployments"
      tabs={TABS}
      current={tab}
      onChange={(next) =>
        params.set({ tab: next === 'deployments' ? undefined : next, open: undefined, search: undefined })
      }
    />
  )
  return tab === 'credentials' ? <Credentials tabs={tabs} /> : <List fresh={fresh} onDone={done} tabs={tabs} />
}

const TABS = [
  { id: 'deployments', label: 'Deployments' },
  { id: 'credentials', label: 'Credentials' },
] as const

/** The wizard, begun with a deployment that there is. */
function Changed({
  id,
  purpose,
  ...rest
}: {
  readonly id: string
  readonly purpose: 'edit' | 'override' | 'copy'
  readonly onDone: (id: string) => void
  readonly onCancel: () => void
}) {
  const read = useApi('GET /ui/api/models/{deployment_id}', { params: { deployment_id: id } })
  if (read.data === undefined) {
    return (
      <Page title={id}>
        <Loaded of={read}>{() => null}</Loaded>
      </Page>
    )
  }
  return <Wizard purpose={purpose} from={purpose === 'edit' ? read.data : withoutSecrets(read.data)} {...rest} />
}

function List({
  fresh,
  onDone,
  tabs,
}: {
  readonly fresh: readonly string[]
  readonly onDone: (id: string) => void
  readonly tabs: ComponentChildren
}) {
  const params = useParams()
  const may = useMay()('config.update')
  const search = params.get('search') || undefined
  const pages = usePages('GET /ui/api/models', { query: { search } })
  const health = useApi('GET /health/deployments', {}, { live: LIVE_SECONDS })
  const byId = new Map(health.data?.deployments.map((one) => [one.deployment_id, one]))
  useEffect(() => (may ? shortcut('c', 'Add a deployment', () => params.set({ new: 'yes' })) : undefined), [may])
  const [open, show] = useOpen()
  const columns = columnsOf((one) => {
    if (one.problem) return <Badge tone="bad">left out</Badge>
    const state = byId.get(one.deployment_id)
    return state ? <StateOf deployment={state} /> : quiet('unknown')
  })
  const rows = pages.rows.toSorted(
    (a, b) => a.model_name.localeCompare(b.model_name) || a.deployment_id.localeCompare(b.deployment_id),
  )
  if (may && !pages.pending && !pages.error && !search && rows.length === 0)
    return <Wizard purpose="new" onDone={onDone} />
  return (
    <Page
      title="Deployments"
      actions={
        may && (
          <ButtonLink kind="primary" icon="plus" href={params.with({ new: 'yes', open: undefined })}>
            Add deployment
          </ButtonLink>
        )
      }
      panel={open && <DeploymentPanel key={open} id={open} health={byId.get(open)} onClose={() => show(undefined)} />}
    >
      {tabs}
      <div class="bar">
        <SearchField label="Search ids and names" />
        <span class="end">
          <ColumnChoice name="deployments" columns={columns} />
        </span>
      </div>
      <ListTable
        name="deployments"
        label="Deployments"
        list={{ ...pages, rows }}
        columns={columns}
        rowId={(one) => one.deployment_id}
        group={(one) => one.model_name}
        href={(one) => params.with({ open: one.deployment_id })}
        onOpen={(one) => show(one.deployment_id)}
        open={open}
        fresh={fresh}
        empty={<Empty title="No deployment matches" />}
      />
    </Page>
  )
}

const columnsOf = (stateOf: (one: Deployment) => ComponentChildren): ReadonlyArray<Column<Deployment>> => [
  { id: 'id', label: 'Deployment', cell: (one) => <Cut>{one.deployment_id}</Cut> },
  { id: 'health', label: 'Health', cell: stateOf },
  { id: 'provider', label: 'Provider', priority: 2, cell: (one) => upstreamOf(one).kind },
  {
    id: 'model',
    label: 'Model',
    priority: 2,
    cell: (one) => <Cut mono>{upstreamOf(one).model}</Cut>,
  },
  {
    id: 'credential',
    label: 'Credential',
    priority: 3,
    optional: true,
    cell: ({ gateway_params: { credential } }) => (credential ? String(credential) : quiet('its own')),
  },
  {
    id: 'mode',
    label: 'Kind',
    priority: 3,
    optional: true,
    cell: ({ model_info: { mode } }) => (mode ? MODE_WORDS[mode as Mode] : quiet('all')),
  },
  {
    id: 'price',
    label: 'Price, 1M tokens',
    number: true,
    priority: 2,
    cell: (one) => priceWords(one) ?? <State tone="warn">no price</State>,
  },
  {
    id: 'limits',
    label: 'Limits a minute',
    priority: 3,
    cell: ({ model_info }) => limitWords(model_info).join(', ') || quiet('no limit'),
  },
  {
    id: 'weight',
    label: 'Weight',
    number: true,
    priority: 3,
    cell: ({ model_info: { weight = 1 } }) => String(weight),
  },
  {
    id: 'priority',
    label: 'Priority',
    number: true,
    priority: 3,
    cell: ({ model_info: { priority = 0 } }) => String(priority),
  },
  { id: 'tags', label: 'Tags', priority: 3, cell: ({ model_info: { tags } }) => texts(tags).join(', ') || quiet('–') },
  {
    id: 'access',
    label: 'Access groups',
    priority: 3,
    optional: true,
    cell: ({ model_info: { access_groups: groups } }) => texts(groups).join(', ') || quiet('–'),
  },
  {
    id: 'source',
    label: 'Kept in',
    priority: 3,
    cell: ({ source }) => (source === 'file' ? quiet('file') : 'database'),
  },
  {
    id: 'changed',
    label: 'Changed',
    priority: 3,
    optional: true,
    cell: ({ updated_at: at }) => (at ? <Ago at={at} /> : quiet('–')),
  },
]
