import { usePages } from '../data/paging.ts'
import { useOpen, useParams } from '../data/params.ts'
import { useMay } from '../data/session.ts'
import { Button } from '../design/button.tsx'
import { SearchField } from '../design/filters.tsx'
import { count } from '../design/format.ts'
import { ColumnChoice } from '../design/list/columns.tsx'
import { useMaking } from '../design/list/making.tsx'
import { Page } from '../design/page.tsx'
import { Empty } from '../design/states.tsx'
import { type Column, ListTable } from '../design/table.tsx'
import { Ago } from '../design/time.tsx'
import { type Organization, OrganizationDialog } from './organizations/organization-dialog.tsx'
import { OrganizationPanel } from './organizations/organization-panel.tsx'
import { Spent } from './place/spent.tsx'

const COLUMNS: ReadonlyArray<Column<Organization>> = [
  { id: 'name', label: 'Organization', cell: (one) => one.organization_name ?? one.organization_id },
  { id: 'spend', label: 'Spent of budget', cell: (one) => <Spent of={one} /> },
  { id: 'teams', label: 'Teams', number: true, priority: 2, cell: (one) => count(one.team_count) },
  { id: 'members', label: 'Members', number: true, priority: 2, cell: (one) => count(one.member_count) },
  { id: 'keys', label: 'Keys', number: true, priority: 2, cell: (one) => count(one.key_count) },
  { id: 'rpm', label: 'Requests per minute', number: true, priority: 3, cell: (one) => count(one.rpm_limit) },
  { id: 'tpm', label: 'Tokens per minute', number: true, priority: 3, cell: (one) => count(one.tpm_limit) },
  { id: 'created', label: 'Created', priority: 3, cell: (one) => <Ago at={one.created_at} /> },
  { id: 'id', label: 'Id', optional: true, cell: (one) => <span class="mono">{one.organization_id}</span> },
]

export function Organizations() {
  const params = useParams()
  const may = useMay()
  const search = params.get('search') || undefined
  const list = usePages('GET /ui/api/organizations', { query: { search } })
  const [open, show] = useOpen()
  const mayCreate = may('platform.admin')
  const making = useMaking('New organization', mayCreate)
  return (
    <Page
      title="Organizations"
      actions={making.button}
      panel={open && <OrganizationPanel key={open} id={open} onClose={() => show(undefined)} />}
    >
      <div class="bar">
        <SearchField label="Search organizations" />
        <span class="end">
          <ColumnChoice name="organizations" columns={COLUMNS} />
        </span>
      </div>
      <ListTable
        name="organizations"
        label="Organizations"
        list={list}
        columns={COLUMNS}
        rowId={({ organization_id }) => organization_id}
        href={({ organization_id }) => params.with({ open: organization_id })}
        onOpen={({ organization_id }) => show(organization_id)}
        open={open}
        fresh={making.made}
        empty={
          search ? (
            <Empty
              title="No organization matches"
              actions={<Button onClick={() => params.set({ search: undefined })}>Clear the search</Button>}
            />
          ) : (
            <Empty title="There are no organizations yet" actions={making.button}>
              An organization has teams, members and administrators of its own, and a budget over all of them.
            </Empty>
          )
        }
      />
      {making.isOpen && (
        <OrganizationDialog
          onClose={making.close}
          onDone={({ organization_id }) => {
            making.done(organization_id)
            show(organization_id)
          }}
        />
      )}
    </Page>
  )
}
