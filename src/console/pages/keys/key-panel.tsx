import { useState } from 'preact/hooks'
import { pathTo, useParams } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { useMay, useSession } from '../../data/session.ts'
import { Entity } from '../../design/badge.tsx'
import { Button, CopyButton } from '../../design/button.tsx'
import { Menu } from '../../design/menu.tsx'
import { Facts, Section } from '../../design/page.tsx'
import { Panel } from '../../design/panel.tsx'
import { Loaded } from '../../design/states.tsx'
import { Tabs } from '../../design/tabs.tsx'
import { Ago } from '../../design/time.tsx'
import { useCopyId } from '../key/copy-id.ts'
import { isOwn, type Key, nameOf } from '../key/key.ts'
import { KeyAccess } from '../key/key-access.tsx'
import { useKeyActions } from '../key/key-actions.tsx'
import { LastCalls } from '../key/key-calls.tsx'
import { KeyMade, type MadeKey } from '../key/key-made.tsx'
import { KeyState } from '../key/key-state.tsx'
import { KeyStanding } from '../key/standing.tsx'
import { History } from '../place/history.tsx'
import { Spending } from '../place/spending.tsx'
import { KeyDialog } from './key-dialog.tsx'

/** One key: where it stands, what it did, what it may call, and what can be done with it. */
export function KeyPanel({
  id,
  onClose,
  onDuplicate,
}: {
  readonly id: string
  readonly onClose: () => void
  readonly onDuplicate: (key: Key) => void
}) {
  const params = useParams()
  const may = useMay()
  const session = useSession()
  const [editing, setEditing] = useState(false)
  const [made, setMade] = useState<MadeKey>()
  const read = useApi('GET /ui/api/keys/{key_id}', { params: { key_id: id } })
  const { data: key } = read
  const own = key !== undefined && isOwn(session, key)
  const calls = key !== undefined && (own || may('spend.read', key))
  const live = key !== undefined && key.revoked_at === null
  const mayChange = key !== undefined && may('key.update', key)
  const mayRevoke = key !== undefined && (own || may('key.revoke', key))
  const actions = useKeyActions({ calls })
  const tabs = [
    { id: 'standing', label: 'Standing' },
    ...(calls
      ? [
          { id: 'usage', label: 'Usage' },
          { id: 'requests', label: 'Requests' },
        ]
      : []),
    { id: 'access', label: 'Access' },
    ...(key && may('audit.read', key) ? [{ id: 'history', label: 'History' }] : []),
  ]
  const tab = tabs.some((one) => one.id === params.get('tab')) ? params.get('tab') : 'standing'
  useCopyId(id)
  return (
    <Panel
      title={key ? nameOf(key) : id}
      onClose={onClose}
      footer={
        key &&
        (mayChange || mayRevoke) && (
          <>
            {mayChange && live && <Button onClick={() => setEditing(true)}>Edit</Button>}
            {(mayChange || own) && live && (
              <Button busy={actions.busy} onClick={async () => setMade(await actions.regenerate(key))}>
                Regenerate
              </Button>
            )}
            {mayRevoke && live && (
              <Button kind="danger" busy={actions.busy} onClick={() => actions.revoke(key)}>
                Revoke
              </Button>
            )}
            {(mayChange || may('key.revoke', key)) && (
              <Menu
                label="More"
                icon="more"
                items={[
                  ...(mayChange ? [{ label: 'Duplicate', onSelect: () => onDuplicate(key) }] : []),
                  ...(may('key.revoke', key)
                    ? [
                        {
                          label: 'Delete',
                          danger: true,
                          onSelect: async () => (await actions.remove(key)) && onClose(),
                        },
                      ]
                    : []),
                ]}
              />
            )}
          </>
        )
      }
    >
      <Loaded of={read}>
        {(one) => (
          <>
            <About of={one} />
            <Tabs
              label="About the key"
              tabs={tabs}
              current={tab}
              onChange={(next) => params.set({ tab: next === 'standing' ? undefined : next }, { replace: true })}
            />
            {tab === 'standing' && <KeyStanding of={one} calls={calls} />}
            {tab === 'usage' && <Spending of={{ key_id: id }} />}
            {tab === 'requests' && <LastCalls query={{ key_id: id }} />}
            {tab === 'access' && <KeyAccess of={one} mayChange={mayChange} />}
            {tab === 'history' && <History of={{ resource_id: id }} />}
            {editing && <KeyDialog edited={one} onClose={() => setEditing(false)} />}
          </>
        )}
      </Loaded>
      {made && <KeyMade made={made} onClose={() => setMade(undefined)} />}
    </Panel>
  )
}

function About({ of: key }: { readonly of: Key }) {
  const { team_id: team, organization_id: organization, user_id: user } = key
  const link = (page: string, id: string | null) => (id ? pathTo(page, { open: id }) : undefined)
  return (
    <Section title="About" level={3}>
      <Facts
        of={[
          ['State', <KeyState of={key} />],
          [
            'Id',
            <span class="row">
              <span class="mono">{key.key_id}</span>
              <CopyButton text={key.key_id} label="Copy the id" />
            </span>,
          ],
          ['Team', <Entity id={team} name={key.team_name} href={link('teams', team)} />],
          [
            'Organization',
            <Entity id={organization} name={key.organization_name} href={link('organizations', organization)} />,
          ],
          ['Owner', key.owner_email ?? undefined],
          ['Counts against', user ? <Entity id={user} name={key.user_name} /> : undefined],
          ['Ends', <Ago at={key.expires_at} never="never" />],
          ['Last used', <Ago at={key.last_used_at} never="never" />],
          ['Created', <Ago at={key.created_at} />],
          ['Metadata', hasSome(key.metadata) ? <span class="mono">{JSON.stringify(key.metadata)}</span> : undefined],
        ]}
      />
    </Section>
  )
}

const hasSome = (metadata: Key['metadata']) => Object.keys(metadata).length > 0
