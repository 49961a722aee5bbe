import { useEffect, useRef, useState } from 'preact/hooks'
import { useChange } from '../data/change.ts'
import type { Row } from '../data/client.ts'
import { usePages } from '../data/paging.ts'
import { pathTo, useParams } from '../data/params.ts'
import { useApi } from '../data/query.ts'
import { useMay } from '../data/session.ts'
import { Badge } from '../design/badge.tsx'
import { Button, ButtonLink } from '../design/button.tsx'
import { SearchField } from '../design/filters.tsx'
import { LookupField, TextField } from '../design/form/fields.tsx'
import { useForm } from '../design/form/form.tsx'
import { FormDialog } from '../design/form/form-dialog.tsx'
import { anyUnsaved } from '../design/form/unsaved.ts'
import { useMaking } from '../design/list/making.tsx'
import { Page, Section } from '../design/page.tsx'
import { Empty, Loaded } from '../design/states.tsx'
import { type Column, ListTable, More } from '../design/table.tsx'
import { Tabs } from '../design/tabs.tsx'
import { Ago } from '../design/time.tsx'
import type { Group } from './groups/group.ts'
import { History } from './groups/history.tsx'
import { candidates, Members } from './groups/members.tsx'
import { PolicyEditor } from './groups/policy.tsx'

interface Policies {
  readonly of: ReadonlyMap<string, Row<'GET /ui/api/route-group-policies'>>
  /** Whatever is not among them has none. */
  readonly areAll: boolean
}

/** The policies of all groups and models, page after page. */
function usePolicies(): Policies {
  const { rows, pending, more, loadingMore, loadMore, error } = usePages('GET /ui/api/route-group-policies', {})
  const goesOn = more === 'more' && !loadingMore && !error
  useEffect(() => {
    if (goesOn) loadMore()
  }, [goesOn])
  return { of: new Map(rows.map((one) => [one.name, one])), areAll: !pending && more === false }
}

const columnsOf = (policies: Policies): ReadonlyArray<Column<Group>> => [
  { id: 'name', label: 'Group', cell: ({ name }) => name },
  {
    id: 'enabled',
    label: 'Callable',
    cell: ({ enabled }) => (enabled ? 'yes' : <span class="quiet">no</span>),
  },
  {
    id: 'members',
    label: 'Members',
    priority: 2,
    cell: ({ members }) => members.map((one) => one.deployment_id ?? one.model_name).join(', '),
  },
  {
    id: 'policy',
    label: 'Policy',
    cell: ({ name }) => <PolicyInForce of={policies.of.get(name)} isRead={policies.areAll} />,
  },
  { id: 'changed', label: 'Changed', priority: 3, cell: ({ updated_at: at }) => <Ago at={at} /> },
]

/** The strategy in force, and whether somebody has drafted another. */
function PolicyInForce({
  of: policy,
  isRead,
}: {
  readonly of: Row<'GET /ui/api/route-group-policies'> | undefined
  readonly isRead: boolean
}) {
  if (!policy && !isRead) return null
  const { routing_strategy: strategy = null, version = null, has_draft: isDrafted = false } = policy ?? {}
  return (
    <>
      {strategy ?? <span class="quiet">inherited</span>}
      {version !== null && <span class="quiet"> · version {version}</span>}
      {isDrafted && (
        <>
          {' '}
          <Badge tone="info">draft</Badge>
        </>
      )}
    </>
  )
}

export function Groups() {
  const open = useParams().get('open')
  return open ? <Detail key={open} name={open} /> : <List />
}

function List() {
  const params = useParams()
  const may = useMay()('config.update')
  const search = params.get('search') || undefined
  const list = usePages('GET /ui/api/route-groups', { query: { search } })
  const deployments = usePages('GET /ui/api/models', { query: { search } })
  const policies = usePolicies()
  const names = [...new Set(deployments.rows.map(({ model_name }) => model_name))].toSorted()
  const making = useMaking('New route group', may)
  return (
    <Page title="Route groups" actions={making.button}>
      <div class="bar">
        <SearchField label="Search groups and models" />
      </div>
      <ListTable
        name="groups"
        label="Route groups"
        list={list}
        columns={columnsOf(policies)}
        rowId={({ name }) => name}
        href={({ name }) => params.with({ open: name })}
        empty={
          <Empty title={search ? 'No route group has this name' : 'There are no route groups yet'}>
            A route group is a name that clients call like a model, with deployments of your choice behind it.
          </Empty>
        }
      />
      {names.length > 0 && (
        <Section title="Models">
          <p class="quiet">The deployments of one model are a group too, with a policy of its own.</p>
          <ul class="lines">
            {names.map((name) => (
              <li key={name}>
                <a href={params.with({ open: name })}>{name}</a>{' '}
                {policies.of.has(name) && <PolicyInForce of={policies.of.get(name)} isRead />}
              </li>
            ))}
          </ul>
          {deployments.more && (
            <div class="under">
              <span>the models of {deployments.rows.length} deployments</span>
              <More of={deployments} />
            </div>
          )}
        </Section>
      )}
      {making.isOpen && <NewGroup onClose={making.close} />}
    </Page>
  )
}

function NewGroup({ onClose, model }: { readonly onClose: () => void; readonly model?: string }) {
  const params = useParams()
  const form = useForm({ name: '', member: model ? `model_name ${model}` : null })
  const create = useChange('POST /ui/api/route-groups', { refreshes: ['/ui/api/route-groups'] })
  async function save(): Promise<void> {
    const [kind = '', ...rest] = (form.values.member ?? '').split(' ')
    const name = form.values.name.trim()
    const members = form.values.member ? [{ [kind]: rest.join(' ') }] : []
    if (await form.submit(() => create.mutateAsync({ body: { name, members } })))
      params.set({ open: name, tab: 'members' })
  }
  return (
    <FormDialog form={form} title="New route group" save="Create" onSave={save} onClose={onClose} always>
      <TextField form={form} name="name" label="Name" hint="What clients send as model." required mono />
      <LookupField
        form={form}
        name="member"
        label="First member"
        lookup={{ search: candidates, name: async (value) => value.slice(value.indexOf(' ') + 1) }}
        placeholder="A deployment or a model"
        hint="More are added afterwards."
      />
    </FormDialog>
  )
}

const TABS = [
  { id: 'policy', label: 'Policy' },
  { id: 'members', label: 'Members' },
  { id: 'history', label: 'History' },
  { id: 'chains', label: 'Fallbacks' },
] as const

function Detail({ name }: { readonly name: string }) {
  const params = useParams()
  const tab = TABS.find(({ id }) => id === params.get('tab'))?.id ?? 'policy'
  const policy = useApi('GET /ui/api/route-groups/{name}/policy', { params: { name } })
  const { data: state } = policy
  // A version that somebody else has published takes the place of the one that is edited, unless that would lose input.
  const held = useRef<number>()
  if (!anyUnsaved()) held.current = state?.published?.version
  const edited = held.current
  return (
    <Page title={name} actions={<ButtonLink href={pathTo('groups')}>All groups</ButtonLink>}>
      <Tabs label={`Parts of ${name}`} tabs={TABS} current={tab} onChange={(id) => params.set({ tab: id })} />
      {tab === 'policy' && <Loaded of={policy}>{(one) => <PolicyEditor key={edited} state={one} />}</Loaded>}
      {tab === 'members' && <MembersTab name={name} />}
      {tab === 'history' && <History name={name} current={state?.published?.version} />}
      {tab === 'chains' && <Chains name={name} />}
    </Page>
  )
}

function MembersTab({ name }: { readonly name: string }) {
  const params = useParams()
  const may = useMay()('config.update')
  const [making, setMaking] = useState(false)
  const read = useApi('GET /ui/api/route-groups/{name}', { params: { name } })
  if (read.error?.status !== 404) {
    return (
      <Loaded of={read}>
        {(group) => <Members group={group} onGone={() => params.set({ open: undefined, tab: undefined })} />}
      </Loaded>
    )
  }
  return (
    <>
      <Empty
        title="This is a model"
        actions={may && <Button onClick={() => setMaking(true)}>Make a route group of it</Button>}
      >
        Its members are its deployments. A route group can have others, and weights of its own.
      </Empty>
      {making && <NewGroup model={name} onClose={() => setMaking(false)} />}
    </>
  )
}

/** Where calls go that find no answer here, as the configuration file says. */
function Chains({ name }: { readonly name: string }) {
  const read = useApi('GET /ui/api/fallbacks', { query: { name } })
  return (
    <Loaded of={read}>
      {({ data }) =>
        data.length === 0 ? (
          <p class="quiet">The configuration file has no fallbacks of {name} and none to it.</p>
        ) : (
          <ul class="lines">
            {data.map(({ kind, from, to }) => (
              <li key={`${kind} ${from.name}`}>
                <span class="quiet">{kind.replaceAll('_', ' ')}</span>
                <span>{[from, ...to].map((one) => one.name).join(' → ')}</span>
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  )
}
