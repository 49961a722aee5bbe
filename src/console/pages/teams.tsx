import { lookups } from '../data/lookups.ts'
import { usePages } from '../data/paging.ts'
import { pathTo, useOpen, useParams } from '../data/params.ts'
import { useScope } from '../data/scope.ts'
import { useSession } from '../data/session.ts'
import { Entity } from '../design/badge.tsx'
import { type Filter, Filters, filterQuery, SearchField } from '../design/filters.tsx'
import { count } from '../design/format.ts'
import { ColumnChoice } from '../design/list/columns.tsx'
import { useMaking } from '../design/list/making.tsx'
import { NoMatch } from '../design/list/no-match.tsx'
import { Page } from '../design/page.tsx'
import { Empty } from '../design/states.tsx'
import { type Column, ListTable } from '../design/table.tsx'
import { Ago } from '../design/time.tsx'
import { Spent } from './place/spent.tsx'
import type { Team } from './teams/team.ts'
import { TeamDialog } from './teams/team-dialog.tsx'
import { TeamPanel } from './teams/team-panel.tsx'

const FILTERS: readonly Filter[] = [{ name: 'organization_id', label: 'Organization', lookup: lookups.organization }]

const COLUMNS: ReadonlyArray<Column<Team>> = [
  { id: 'name', label: 'Team', cell: (team) => team.team_name ?? team.team_id },
  {
    id: 'organization',
    label: 'Organization',
    priority: 2,
    cell: (team) => (
      <Entity
        id={team.organization_id}
        name={team.organization_name}
        href={team.organization_id ? pathTo('organizations', { open: team.organization_id }) : undefined}
      />
    ),
  },
  { id: 'spend', label: 'Spent of budget', cell: (team) => <Spent of={team} /> },
  { id: 'members', label: 'Members', number: true, priority: 2, cell: (team) => count(team.member_count) },
  { id: 'keys', label: 'Keys', number: true, priority: 2, cell: (team) => count(team.key_count) },
  { id: 'rpm', label: 'Requests per minute', number: true, priority: 3, cell: (team) => count(team.rpm_limit) },
  { id: 'tpm', label: 'Tokens per minute', number: true, priority: 3, cell: (team) => count(team.tpm_limit) },
  {
    id: 'self',
    label: 'Own keys',
    priority: 2,
    cell: (team) => (team.self_service_keys_enabled ? 'on' : <span class="quiet">off</span>),
  },
  { id: 'created', label: 'Created', priority: 3, cell: (team) => <Ago at={team.created_at} /> },
  { id: 'id', label: 'Id', optional: true, cell: (team) => <span class="mono">{team.team_id}</span> },
]

export function Teams() {
  const params = useParams()
  const session = useSession()
  const scope = useScope()
  const query = {
    ...(scope.organization_id ? { organization_id: scope.organization_id } : {}),
    ...filterQuery(params, FILTERS),
    search: params.get('search') || undefined,
  }
  const list = usePages('GET /ui/api/teams', { query })
  const [open, show] = useOpen()
  const filtered = Object.values(query).some(Boolean)
  // An admin of a team changes that one, and makes no other.
  const mayCreate = [session, ...session.organizations].some(({ permissions }) => permissions.includes('team.update'))
  const making = useMaking('New team', mayCreate)
  return (
    <Page
      title="Teams"
      actions={making.button}
      panel={open && <TeamPanel key={open} id={open} onClose={() => show(undefined)} />}
    >
      <div class="bar">
        <SearchField label="Search teams" />
        <Filters filters={FILTERS} />
        <span class="end">
          <ColumnChoice name="teams" columns={COLUMNS} />
        </span>
      </div>
      <ListTable
        name="teams"
        label="Teams"
        list={list}
        columns={COLUMNS}
        rowId={(team) => team.team_id}
        href={(team) => params.with({ open: team.team_id })}
        onOpen={(team) => show(team.team_id)}
        open={open}
        fresh={making.made}
        empty={
          filtered ? (
            <NoMatch
              title="No team matches"
              filters={['organization_id', 'search']}
              isInScope={scope.organization_id !== undefined}
            />
          ) : (
            <Empty title="There are no teams yet" actions={making.button}>
              The keys of a team share its limits and its budget, and its members may create keys of their own.
            </Empty>
          )
        }
      />
      {making.isOpen && (
        <TeamDialog
          onClose={making.close}
          onDone={(team) => {
            making.done(team.team_id)
            show(team.team_id)
          }}
        />
      )}
    </Page>
  )
}
