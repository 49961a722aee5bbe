import { usePages } from '../data/paging.ts'
import { useOpen, useParams } from '../data/params.ts'
import { useMay } from '../data/session.ts'
import { State } from '../design/badge.tsx'
import { Button } from '../design/button.tsx'
import { SearchField } from '../design/filters.tsx'
import { count, duration } from '../design/format.ts'
import { useMaking } from '../design/list/making.tsx'
import { Page } from '../design/page.tsx'
import { Empty } from '../design/states.tsx'
import { type Column, ListTable } from '../design/table.tsx'
import { Ago } from '../design/time.tsx'
import { useCallsOfServers } from './mcp/calls.ts'
import { AUTH, type Server } from './mcp/server.ts'
import { ServerDialog } from './mcp/server-dialog.tsx'
import { ServerPanel } from './mcp/server-panel.tsx'

const columnsOf = (calls: ReturnType<typeof useCallsOfServers>['of']): ReadonlyArray<Column<Server>> => [
  { id: 'key', label: 'Server', cell: ({ server_key: key }) => key },
  { id: 'address', label: 'Address', cell: ({ base_url: url }) => <span class="mono">{url}</span> },
  { id: 'auth', label: 'Signs in with', priority: 2, cell: ({ auth_mode: mode }) => AUTH[mode] },
  {
    id: 'state',
    label: 'State',
    priority: 2,
    cell: ({ enabled }) => (enabled ? <State>in use</State> : <State tone="warn">switched off</State>),
  },
  ...(calls
    ? ([
        {
          id: 'calls',
          label: 'Calls, 7 d',
          number: true,
          priority: 2,
          cell: ({ server_key: key }) => count(calls.get(key)?.calls ?? 0),
        },
        {
          id: 'failed',
          label: 'Failed',
          number: true,
          priority: 3,
          cell: ({ server_key: key }) => {
            const failed = calls.get(key)?.failed_calls ?? 0
            return failed > 0 ? count(failed) : <span class="quiet">none</span>
          },
        },
      ] satisfies ReadonlyArray<Column<Server>>)
    : []),
  { id: 'timeout', label: 'Time limit', number: true, priority: 3, cell: ({ request_timeout_ms: ms }) => duration(ms) },
  { id: 'source', label: 'From', priority: 3, cell: ({ source }) => source },
  { id: 'changed', label: 'Changed', priority: 3, cell: ({ updated_at: at }) => <Ago at={at} /> },
]

export function McpServers() {
  const params = useParams()
  const may = useMay()
  const search = params.get('search') || undefined
  const list = usePages('GET /ui/api/mcp-servers', { query: search === undefined ? {} : { search } })
  const calls = useCallsOfServers()
  const [open, show] = useOpen()
  const mayAdd = may('config.update')
  const making = useMaking('Add a server', mayAdd)
  return (
    <Page
      title="MCP servers"
      actions={making.button}
      panel={open && <ServerPanel key={open} id={open} onClose={() => show(undefined)} />}
    >
      <div class="bar">
        <SearchField label="Search servers" />
      </div>
      <ListTable
        name="mcp"
        label="MCP servers"
        list={list}
        columns={columnsOf(calls.of)}
        rowId={({ server_key: key }) => key}
        href={({ server_key: key }) => params.with({ open: key })}
        onOpen={({ server_key: key }) => show(key)}
        open={open}
        fresh={making.made}
        empty={
          search === undefined ? (
            <Empty title="There are no MCP servers yet" actions={making.button}>
              Models call the tools of these servers in the gateway itself, and clients reach them all at /mcp.
            </Empty>
          ) : (
            <Empty
              title="No server matches"
              actions={<Button onClick={() => params.set({ search: undefined })}>Clear the search</Button>}
            />
          )
        }
      />
      {making.isOpen && (
        <ServerDialog
          onClose={making.close}
          onDone={(key) => {
            making.done(key)
            show(key)
          }}
        />
      )}
    </Page>
  )
}
