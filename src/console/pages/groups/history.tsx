import { useChange } from '../../data/change.ts'
import type { Row } from '../../data/client.ts'
import { useApi } from '../../data/query.ts'
import { useMay } from '../../data/session.ts'
import { Button } from '../../design/button.tsx'
import { performed } from '../../design/confirmed.ts'
import { Loaded } from '../../design/states.tsx'
import { type Column, Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { SETTINGS, settingWords } from './group.ts'

type Version = Row<'GET /ui/api/route-groups/{name}/policy/versions'>

/** What was in force when, and the way back to it. */
export function History({ name, current }: { readonly name: string; readonly current: number | undefined }) {
  const may = useMay()('config.update')
  const read = useApi('GET /ui/api/route-groups/{name}/policy/versions', { params: { name } })
  const back = useChange('POST /ui/api/route-groups/{name}/policy/rollback', { refreshes: ['/ui/api/route-groups'] })
  async function ask({ version }: Version): Promise<void> {
    const question = {
      title: `Publish version ${version} again?`,
      body: 'It becomes a new version and applies everywhere within five seconds. A draft stays as it is.',
      action: 'Roll back',
      done: `Version ${version} is in force again.`,
    }
    await performed(question, () => back.mutateAsync({ params: { name }, body: { version } }))
  }
  const columns: ReadonlyArray<Column<Version>> = [
    {
      id: 'version',
      label: 'Version',
      cell: ({ version, restored_from: from }) => (
        <>
          {version} {version === current && <b>in force</b>}
          {from !== null && <span class="quiet"> of version {from}</span>}
        </>
      ),
    },
    { id: 'at', label: 'Published', cell: ({ published_at: at }) => <Ago at={at} /> },
    {
      id: 'by',
      label: 'By',
      priority: 2,
      cell: ({ published_by: by }) => by?.replace('master_key', 'Master key') ?? <span class="quiet">–</span>,
    },
    { id: 'policy', label: 'What it sets', priority: 2, cell: ({ policy }) => wordsOf(policy) },
    {
      id: 'back',
      label: 'Actions',
      cell: (one) =>
        may && one.version !== current ? (
          <Button small onClick={() => ask(one)} label={`Roll back to version ${one.version}`}>
            Roll back
          </Button>
        ) : null,
    },
  ]
  return (
    <Loaded of={read}>
      {({ data }) =>
        data.length === 0 ? (
          <p class="quiet">Nothing was published yet: router_settings apply.</p>
        ) : (
          <Table
            name="policy-versions"
            label="Versions"
            columns={columns}
            rows={data}
            rowId={(one) => String(one.version)}
          />
        )
      }
    </Loaded>
  )
}

const wordsOf = (policy: Version['policy']): string =>
  SETTINGS.flatMap(([name, label, unit]) => {
    const words = settingWords(policy[name], unit)
    return words === undefined ? [] : [name === 'routing_strategy' ? words : `${label.toLowerCase()} ${words}`]
  }).join(', ') || 'nothing: everything is inherited'
