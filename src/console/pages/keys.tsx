import { useEffect, useState } from 'preact/hooks'
import { api } from '../data/client.ts'
import { lookups } from '../data/lookups.ts'
import { usePages } from '../data/paging.ts'
import { pathTo, useOpen, useParams } from '../data/params.ts'
import { useScope } from '../data/scope.ts'
import { useMay } from '../data/session.ts'
import { shortcut } from '../data/shortcuts.ts'
import { Entity } from '../design/badge.tsx'
import { Button } from '../design/button.tsx'
import { Code } from '../design/code.tsx'
import { type Filter, Filters, filterQuery, SearchField } from '../design/filters.tsx'
import { ColumnChoice } from '../design/list/columns.tsx'
import { NoMatch } from '../design/list/no-match.tsx'
import { Page } from '../design/page.tsx'
import { Empty } from '../design/states.tsx'
import { type Column, ListTable } from '../design/table.tsx'
import { Ago } from '../design/time.tsx'
import { toast } from '../design/toast.tsx'
import { type Key, nameOf } from './key/key.ts'
import { KeyMade, type MadeKey } from './key/key-made.tsx'
import { KeyState } from './key/key-state.tsx'
import { Limits } from './key/limits.tsx'
import { Spent } from './key/spent.tsx'
import { KeyDialog } from './keys/key-dialog.tsx'
import { KeyPanel } from './keys/key-panel.tsx'
import type { Access } from './place/access-rule.tsx'

const STATES = [
  { value: 'active', label: 'active' },
  { value: 'over_budget', label: 'over budget' },
  { value: 'owner_disabled', label: 'owner disabled' },
  { value: 'expired', label: 'expired' },
  { value: 'revoked', label: 'revoked' },
]
const ORDERS = [
  { value: 'name', label: 'By name' },
  { value: 'created_at', label: 'Newest first' },
  { value: 'spend', label: 'Most spent first' },
  { value: 'last_used_at', label: 'Last used first' },
] as const

const COLUMNS: ReadonlyArray<Column<Key>> = [
  { id: 'name', label: 'Key', cell: (key) => nameOf(key) },
  { id: 'tail', label: 'Id', priority: 4, cell: (key) => <span class="mono quiet">…{key.key_id.slice(-6)}</span> },
  {
    id: 'team',
    label: 'Team',
    priority: 2,
    cell: (key) => (
      <Entity
        id={key.team_id}
        name={key.team_name}
        href={key.team_id ? pathTo('teams', { open: key.team_id }) : undefined}
      />
    ),
  },
  {
    id: 'owner',
    label: 'Owner',
    priority: 3,
    cell: (key) => key.owner_email ?? key.user_name ?? <span class="quiet">–</span>,
  },
  { id: 'state', label: 'State', cell: (key) => <KeyState of={key} /> },
  { id: 'spend', label: 'Spent of budget', priority: 2, cell: (key) => <Spent of={key} /> },
  { id: 'limits', label: 'Tightest limit', priority: 3, cell: (key) => <Limits of={key} /> },
  { id: 'ends', label: 'Ends', priority: 3, cell: (key) => <Ago at={key.expires_at} never="never" /> },
  { id: 'used', label: 'Last used', priority: 2, cell: (key) => <Ago at={key.last_used_at} never="never" /> },
  {
    id: 'organization',
    label: 'Organization',
    optional: true,
    cell: (key) => <Entity id={key.organization_id} name={key.organization_name} />,
  },
  { id: 'created', label: 'Created', optional: true, cell: (key) => <Ago at={key.created_at} /> },
]

/** The moment some days from now, rounded up to the hour, so that the query stays the same. */
const inDays = (days: number) =>
  new Date(Math.ceil(Date.now() / 3_600_000) * 3_600_000 + days * 86_400_000).toISOString()

export function Keys() {
  const params = useParams()
  const may = useMay()
  const scope = useScope()
  const [creating, setCreating] = useState<'new' | { readonly like: Key; readonly access: Access }>()
  const [made, setMade] = useState<MadeKey>()
  const [fresh, setFresh] = useState<readonly string[]>([])
  const filters: readonly Filter[] = [
    { name: 'state', label: 'State', choices: STATES },
    ...(may('team.read') ? [{ name: 'team_id', label: 'Team', lookup: lookups.team }] : []),
    ...(may('org.read') ? [{ name: 'organization_id', label: 'Organization', lookup: lookups.organization }] : []),
    ...(may('user.read') ? [{ name: 'user_id', label: 'Person', lookup: lookups.user }] : []),
    {
      name: 'ends_before',
      label: 'Ends before',
      choices: [1, 7, 30].map((days) => ({ value: inDays(days), label: days === 1 ? 'tomorrow' : `in ${days} days` })),
    },
  ]
  const query = { ...scope, ...filterQuery(params, filters), search: params.get('search') || undefined }
  const order = ORDERS.find(({ value }) => value === params.get('order'))?.value ?? 'name'
  const list = usePages('GET /ui/api/keys', { query: { ...query, order } }, { live: 30 })
  const [open, show] = useOpen()
  const filtered = Object.values(query).some(Boolean)
  const allowed = may('key.update')
  useEffect(() => (allowed ? shortcut('c', 'New key', () => setCreating('new')) : undefined), [allowed])
  // A copy may call no more than its original.
  const duplicate = (like: Key) =>
    api('GET /ui/api/keys/{key_id}/model-access', { params: { key_id: like.key_id } }).then(
      (access) => setCreating({ like, access }),
      (error: Error) => toast(error.message, { bad: true }),
    )
  const create = allowed && (
    <Button kind="primary" icon="plus" onClick={() => setCreating('new')}>
      New key
    </Button>
  )
  return (
    <Page
      title="Keys"
      actions={create}
      panel={open && <KeyPanel key={open} id={open} onClose={() => show(undefined)} onDuplicate={duplicate} />}
    >
      <div class="bar">
        <SearchField label="Search keys" />
        <Filters filters={filters} />
        <span class="end row">
          <select
            class="input order"
            aria-label="Order"
            value={order}
            onChange={(event) => params.set({ order: event.currentTarget.value })}
          >
            {ORDERS.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
          <ColumnChoice name="keys" columns={COLUMNS} />
        </span>
      </div>
      <ListTable
        name="keys"
        label="Keys"
        list={list}
        columns={COLUMNS}
        rowId={(key) => key.key_id}
        href={(key) => params.with({ open: key.key_id })}
        onOpen={(key) => show(key.key_id)}
        open={open}
        fresh={fresh}
        empty={
          filtered ? (
            <NoMatch
              title="No key matches"
              filters={['search', ...filters.map(({ name }) => name)]}
              isInScope={Object.values(scope).some(Boolean)}
            />
          ) : (
            <>
              <Empty title="There are no keys yet" actions={create}>
                Programs call models with a key. It has limits and a budget of its own, and counts against those of its
                team.
              </Empty>
              {allowed && (
                <Code
                  label="The same by the API"
                  text={`curl ${location.origin}/ui/api/keys \\\n  -H "Authorization: Bearer $GATEWAY_MASTER_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"key_name": "build-server"}'`}
                />
              )}
            </>
          )
        }
      />
      {creating && (
        <KeyDialog
          {...(creating === 'new' ? {} : creating)}
          onClose={() => setCreating(undefined)}
          onMade={(key) => {
            setMade(key)
            setFresh([key.key_id, ...fresh])
          }}
        />
      )}
      {made && (
        <KeyMade
          made={made}
          onClose={() => {
            setMade(undefined)
            show(made.key_id)
          }}
        />
      )}
    </Page>
  )
}
