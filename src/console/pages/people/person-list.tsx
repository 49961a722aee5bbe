import type { ComponentChildren } from 'preact'
import { lookups } from '../../data/lookups.ts'
import { usePages } from '../../data/paging.ts'
import { useParams } from '../../data/params.ts'
import { useScope } from '../../data/scope.ts'
import { Badge, State } from '../../design/badge.tsx'
import { type Filter, Filters, filterQuery, SearchField } from '../../design/filters.tsx'
import { ColumnChoice } from '../../design/list/columns.tsx'
import { NoMatch } from '../../design/list/no-match.tsx'
import { Empty } from '../../design/states.tsx'
import { type Column, ListTable } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { roleName } from '../place/roles.ts'
import { Spent } from '../place/spent.tsx'
import { type Person, waysIn } from './person.ts'

const FILTERS: readonly Filter[] = [
  {
    name: 'state',
    label: 'State',
    choices: [
      { value: 'active', label: 'active' },
      { value: 'disabled', label: 'disabled' },
    ],
  },
  { name: 'organization_id', label: 'Organization', lookup: lookups.organization },
  { name: 'team_id', label: 'Team', lookup: lookups.team },
  {
    name: 'platform_role',
    label: 'On the platform',
    choices: [
      { value: 'platform_admin', label: 'administrator' },
      { value: 'org_user', label: 'nothing of its own' },
    ],
  },
  {
    name: 'mfa_enabled',
    label: 'Second factor',
    choices: [
      { value: 'true', label: 'on' },
      { value: 'false', label: 'off' },
    ],
  },
]

const COLUMNS: ReadonlyArray<Column<Person>> = [
  { id: 'email', label: 'Address', cell: ({ email }) => email },
  { id: 'name', label: 'Name', priority: 3, cell: ({ user_name }) => user_name ?? <span class="quiet">–</span> },
  { id: 'member', label: 'Member of', priority: 2, cell: (person) => <Places of={person} /> },
  { id: 'spend', label: 'Spent of budget', priority: 3, cell: (person) => <Spent of={person} /> },
  { id: 'signin', label: 'Signs in with', priority: 3, cell: waysIn },
  {
    id: 'seen',
    label: 'Last sign-in',
    priority: 2,
    cell: ({ last_login_at }) => <Ago at={last_login_at} never="never" />,
  },
  { id: 'state', label: 'State', cell: (person) => <PersonState of={person} /> },
  { id: 'created', label: 'Created', optional: true, cell: ({ created_at }) => <Ago at={created_at} /> },
  { id: 'id', label: 'Id', optional: true, cell: ({ account_id }) => <span class="mono">{account_id}</span> },
]

export function PersonState({ of: { state } }: { readonly of: Person }) {
  return <State tone={state === 'disabled' ? 'warn' : 'quiet'}>{state}</State>
}

/** The two first of what somebody belongs to; all of them as a title. */
function Places({ of: { memberships, platform_role } }: { readonly of: Person }) {
  const all = memberships.map(({ name, id, role }) => `${name ?? id} (${roleName(role).toLowerCase()})`)
  return (
    <span class="cut" title={all.join('\n') || undefined}>
      {platform_role === 'platform_admin' && (
        <>
          <Badge tone="info">platform admin</Badge>{' '}
        </>
      )}
      {all.slice(0, 2).join(', ')}
      {all.length > 2 && <span class="quiet"> and {all.length - 2} more</span>}
      {all.length === 0 && platform_role !== 'platform_admin' && <span class="quiet">nothing</span>}
    </span>
  )
}

export function PersonList({
  open,
  onOpen,
  invite,
}: {
  readonly open: string | undefined
  readonly onOpen: (id: string) => void
  readonly invite: ComponentChildren
}) {
  const params = useParams()
  const scope = useScope()
  const query = { ...scope, ...filterQuery(params, FILTERS), search: params.get('search') || undefined }
  const list = usePages('GET /ui/api/accounts', { query })
  const filtered = Object.values(query).some(Boolean)
  return (
    <>
      <div class="bar">
        <SearchField label="Search people" />
        <Filters filters={FILTERS} />
        <span class="end">
          <ColumnChoice name="people" columns={COLUMNS} />
        </span>
      </div>
      <ListTable
        name="people"
        label="People"
        list={list}
        columns={COLUMNS}
        rowId={({ account_id }) => account_id}
        href={({ account_id }) => params.with({ open: account_id })}
        onOpen={({ account_id }) => onOpen(account_id)}
        open={open}
        empty={
          filtered ? (
            <NoMatch
              title="No person matches"
              filters={['search', ...FILTERS.map(({ name }) => name)]}
              isInScope={Object.values(scope).some(Boolean)}
            />
          ) : (
            <Empty title="Nobody has an account yet" actions={invite}>
              Invited people choose a password, or use single sign-on, and see what their roles allow.
            </Empty>
          )
        }
      />
    </>
  )
}
