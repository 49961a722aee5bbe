import { useState } from 'preact/hooks'
import { useChange } from '../../data/change.ts'
import { pathTo } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { useMay } from '../../data/session.ts'
import { Button } from '../../design/button.tsx'
import { performed } from '../../design/confirmed.ts'
import { count, duration } from '../../design/format.ts'
import { Facts, Section } from '../../design/page.tsx'
import { Panel } from '../../design/panel.tsx'
import { Failure, Loaded } from '../../design/states.tsx'
import { Ago } from '../../design/time.tsx'
import { useCallsOfServers } from './calls.ts'
import { AUTH } from './server.ts'
import { ServerDialog } from './server-dialog.tsx'
import { Found } from './tools.tsx'
import { WhoMay } from './who-may.tsx'

export function ServerPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const may = useMay()
  const calls = useCallsOfServers()
  const { calls: called = 0, failed_calls: failed = 0 } = calls.of?.get(id) ?? {}
  const [editing, setEditing] = useState(false)
  const one = { params: { server_key: id } }
  const read = useApi('GET /ui/api/mcp-servers/{server_key}', one)
  const check = useChange('POST /ui/api/mcp-servers/{server_key}/check')
  const remove = useChange('DELETE /ui/api/mcp-servers/{server_key}', { refreshes: ['/ui/api/mcp-servers'] })
  const own = may('config.update') && read.data?.source === 'database'
  async function ask(): Promise<void> {
    const question = {
      title: `Delete ${id}?`,
      body: 'Calls that name its tools are refused from then on.',
      action: 'Delete',
      danger: true,
      done: `${id} is deleted.`,
    }
    if (await performed(question, () => remove.mutateAsync(one))) onClose()
  }
  return (
    <Panel
      title={id}
      onClose={onClose}
      footer={
        own && (
          <>
            <Button onClick={() => setEditing(true)}>Edit</Button>
            <Button kind="danger" busy={remove.isPending} onClick={() => void ask()}>
              Delete
            </Button>
          </>
        )
      }
    >
      <Loaded of={read}>
        {(server) => (
          <>
            <Facts
              of={[
                ['Address', <span class="mono">{server.base_url}</span>],
                ['Signs in with', AUTH[server.auth_mode]],
                ['A call takes at most', duration(server.request_timeout_ms)],
                ['In use', server.enabled ? 'yes' : 'no'],
                ['From', server.source === 'file' ? 'the file, which alone changes it' : 'the database'],
                [
                  'Calls at /mcp, 7 d',
                  calls.of && (
                    <a href={pathTo('requests', { provider: 'mcp', deployment: id, range: '7d' })}>
                      {called === 0 ? 'none' : `${count(called)}, of which ${count(failed)} failed`}
                    </a>
                  ),
                ],
                ['Changed', server.updated_at === null ? undefined : <Ago at={server.updated_at} />],
              ]}
            />
            <Section
              title="Tools"
              level={3}
              actions={
                may('config.update') && (
                  <Button small busy={check.isPending} onClick={() => check.mutate(one)}>
                    Ask the server
                  </Button>
                )
              }
            >
              {check.error && <Failure error={check.error} />}
              {check.data ? (
                <Found of={check.data} server={may('config.update') ? id : undefined} />
              ) : (
                <p class="quiet">Its tools are shown when it is asked.</p>
              )}
            </Section>
            {may('team.read') && <WhoMay server={id} />}
            {editing && (
              <ServerDialog server={server} onClose={() => setEditing(false)} onDone={() => setEditing(false)} />
            )}
          </>
        )}
      </Loaded>
    </Panel>
  )
}
