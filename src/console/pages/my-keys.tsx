import { useEffect, useState } from 'preact/hooks'
import { pathTo, useOpen, useParams } from '../data/params.ts'
import { useApi } from '../data/query.ts'
import { useMay, useSession } from '../data/session.ts'
import { shortcut } from '../data/shortcuts.ts'
import { ButtonLink } from '../design/button.tsx'
import { Page, Section } from '../design/page.tsx'
import { Empty, Failure, Loading } from '../design/states.tsx'
import { Tabs } from '../design/tabs.tsx'
import { LastCalls } from './key/key-calls.tsx'
import { KeyMade, type MadeKey } from './key/key-made.tsx'
import { keysLeft, type Team } from './my-keys/allowance.ts'
import { OwnKeyDialog } from './my-keys/own-key-dialog.tsx'
import { OwnKeyPanel } from './my-keys/own-key-panel.tsx'
import { KeyTable, TeamKeys } from './my-keys/team-keys.tsx'
import { Spending } from './place/spending.tsx'

const TABS = [
  { id: 'keys', label: 'Keys' },
  { id: 'calls', label: 'Calls and spend' },
] as const
type View = (typeof TABS)[number]['id']

const MOST = 200

export function MyKeys() {
  const params = useParams()
  const [creating, setCreating] = useState<Team>()
  const [made, setMade] = useState<MadeKey>()
  const view: View = params.get('view') === 'calls' ? 'calls' : 'keys'
  const [open, show] = useOpen()
  return (
    <Page
      title="My keys"
      lead="Keys that you made for yourself, and how many your teams allow."
      panel={open && <OwnKeyPanel key={open} id={open} onClose={() => show(undefined)} />}
    >
      <Tabs
        label="My keys"
        tabs={TABS}
        current={view}
        onChange={(next) => params.set({ view: next === 'keys' ? undefined : next })}
      />
      {view === 'keys' ? (
        <Cards open={open} onOpen={show} onCreate={setCreating} />
      ) : (
        <div class="columns">
          <Section title="The last 30 days">
            <Spending of={{ owner: 'me' }} />
          </Section>
          <Section title="Last calls">
            <LastCalls query={{ owner: 'me' }} />
          </Section>
        </div>
      )}
      {creating && <OwnKeyDialog team={creating} onClose={() => setCreating(undefined)} onMade={setMade} />}
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

/** A card for each team that one belongs to, and the keys that are in none of them. */
function Cards({
  open,
  onOpen,
  onCreate,
}: {
  readonly open: string | undefined
  readonly onOpen: (id: string) => void
  readonly onCreate: (team: Team) => void
}) {
  const session = useSession()
  const may = useMay()
  const mine = new Set(
    session.teams.filter(({ permissions }) => permissions.includes('key.create_self')).map(({ id }) => id),
  )
  const keys = useApi('GET /ui/api/keys', { query: { owner: 'me', order: 'created_at', limit: MOST } }, { live: 30 })
  const teams = useApi('GET /ui/api/teams', { query: { limit: MOST } }, { enabled: mine.size > 0 })
  const error = keys.error ?? teams.error
  const inTeams = (teams.data?.data ?? []).filter(({ team_id }) => mine.has(team_id))
  // Where one may do something comes first.
  const shown = inTeams.sort(
    (one, other) => Number(other.self_service_keys_enabled) - Number(one.self_service_keys_enabled),
  )
  const own = keys.data?.data ?? []
  const first = shown.find((team) => team.self_service_keys_enabled && keysLeft(team, keysIn(team)) !== 0)
  function keysIn({ team_id: team }: Team) {
    return own.filter(({ team_id }) => team_id === team)
  }
  useEffect(() => (first ? shortcut('c', 'New key', () => onCreate(first)) : undefined), [first])
  const others = own.filter(({ team_id }) => team_id === null || !mine.has(team_id))
  if (!keys.data || (mine.size > 0 && !teams.data)) {
    return error ? <Failure error={error} retry={() => void keys.refetch()} /> : <Loading />
  }
  return (
    <>
      {error && <Failure error={error} retry={() => void keys.refetch()} readAt={keys.dataUpdatedAt} />}
      {shown.map((team) => (
        <TeamKeys
          key={team.team_id}
          team={team}
          keys={keysIn(team)}
          open={open}
          onOpen={onOpen}
          onCreate={() => onCreate(team)}
        />
      ))}
      {others.length > 0 && (
        <Section title={shown.length > 0 ? 'Elsewhere' : 'Your keys'}>
          <KeyTable label="Your other keys" keys={others} open={open} onOpen={onOpen} />
        </Section>
      )}
      {shown.length === 0 && others.length === 0 && (
        <Empty
          title="You have no keys of your own"
          actions={
            may('key.update') && (
              <ButtonLink kind="primary" href={pathTo('keys')}>
                All keys
              </ButtonLink>
            )
          }
        >
          {may('key.update')
            ? 'Members of a team make their own keys here. You administer keys: make them for anyone under Keys.'
            : 'A key lets your programs call models. You are in no team whose members may make keys: ask an administrator of your organization.'}
        </Empty>
      )}
    </>
  )
}
