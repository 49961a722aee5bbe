import type { ComponentChildren } from 'preact'
import { usePages } from '../../data/paging.ts'
import { useOpen, useParams } from '../../data/params.ts'
import { useMay } from '../../data/session.ts'
import { Cut } from '../../design/badge.tsx'
import { SearchField } from '../../design/filters.tsx'
import { useMaking } from '../../design/list/making.tsx'
import { Page } from '../../design/page.tsx'
import { Empty } from '../../design/states.tsx'
import { type Column, ListTable } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import type { Credential } from './credential.ts'
import { CredentialDialog } from './credential-dialog.tsx'
import { CredentialPanel } from './credential-panel.tsx'

const COLUMNS: ReadonlyArray<Column<Credential>> = [
  { id: 'name', label: 'Credential', cell: ({ name }) => <Cut>{name}</Cut> },
  { id: 'provider', label: 'Provider', cell: ({ provider }) => provider },
  {
    id: 'address',
    label: 'Address',
    priority: 3,
    cell: ({ gateway_params: { api_base: address } }) =>
      address ? <Cut mono>{String(address)}</Cut> : <span class="quiet">the usual one</span>,
  },
  {
    id: 'used',
    label: 'Deployments',
    number: true,
    cell: ({ used_by: count }) => (count === 0 ? <span class="quiet">none</span> : String(count)),
  },
  { id: 'rotated', label: 'Secrets changed', cell: ({ rotated_at: at }) => <Ago at={at} /> },
]

/** What deployments share by name to be known at their providers. */
export function Credentials({ tabs }: { readonly tabs: ComponentChildren }) {
  const params = useParams()
  const may = useMay()('config.update')
  const search = params.get('search') || undefined
  const list = usePages('GET /ui/api/credentials', { query: { search } })
  const [open, show] = useOpen()
  const making = useMaking('New credential', may)
  return (
    <Page
      title="Deployments"
      actions={making.button}
      panel={open && <CredentialPanel key={open} name={open} onClose={() => show(undefined)} />}
    >
      {tabs}
      <div class="bar">
        <SearchField label="Search names" />
      </div>
      <ListTable
        name="credentials"
        label="Credentials"
        list={list}
        columns={COLUMNS}
        rowId={({ name }) => name}
        href={({ name }) => params.with({ open: name })}
        onOpen={({ name }) => show(name)}
        open={open}
        fresh={making.made}
        empty={
          search ? (
            <Empty title="No credential has this name" />
          ) : (
            <Empty title="There are no credentials yet" actions={making.button}>
              A credential is a provider's key under a name. Deployments that name it have no key of their own, and all
              follow when it is rotated.
            </Empty>
          )
        }
      />
      {making.isOpen && (
        <CredentialDialog
          onClose={making.close}
          onDone={(name) => {
            making.done(name)
            show(name)
          }}
        />
      )}
    </Page>
  )
}
