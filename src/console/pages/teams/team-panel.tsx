import { useState } from 'preact/hooks'
import { pathTo, useParams } from '../../data/params.ts'
import { useApi, useChange } from '../../data/query.ts'
import { useMay } from '../../data/session.ts'
import { Entity } from '../../design/badge.tsx'
import { Button, ButtonLink } from '../../design/button.tsx'
import { confirmed } from '../../design/dialog.tsx'
import { Facts, Section } from '../../design/page.tsx'
import { Panel } from '../../design/panel.tsx'
import { Loaded } from '../../design/states.tsx'
import { Tabs } from '../../design/tabs.tsx'
import { Ago } from '../../design/time.tsx'
import { toast } from '../../design/toast.tsx'
import type { PlaceOf } from '../place/place.ts'
import { PlaceAccess } from '../place/place-access.tsx'
import { BudgetAndLimits, Id } from '../place/place-facts.tsx'
import { PlaceKeys } from '../place/place-keys.tsx'
import { PlaceMembers } from '../place/place-members.tsx'
import { OwnKeys } from './own-keys.tsx'
import type { Team } from './team.ts'
import { TeamDialog } from './team-dialog.tsx'

export function TeamPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const params = useParams()
  const may = useMay()
  const [editing, setEditing] = useState(false)
  const read = useApi('GET /ui/api/teams/{team_id}', { params: { team_id: id } })
  const remove = useChange('DELETE /ui/api/teams/{team_id}', { refreshes: ['/ui/api/teams'] })
  const { data: team } = read
  const allowed = team && may('team.update', team)
  const tabs = [
    { id: 'overview', label: 'Overview' },
    { id: 'members', label: 'Members' },
    ...(team && may('key.read', team) ? [{ id: 'keys', label: 'Keys' }] : []),
    { id: 'models', label: 'Models' },
    { id: 'own-keys', label: 'Own keys' },
  ]
  const tab = tabs.find((one) => one.id === params.get('tab'))?.id ?? 'overview'
  async function ask(): Promise<void> {
    const name = team?.team_name ?? id
    const members = team?.member_count ?? 0
    if (
      !(await confirmed({
        title: `Delete ${name}?`,
        body: `${members === 1 ? 'One member loses the role' : `${members} members lose their roles`} in it. A team that has keys is kept.`,
        action: 'Delete',
        danger: true,
      }))
    )
      return
    remove.mutate(
      { params: { team_id: id } },
      {
        onSuccess: () => {
          toast(`${name} is deleted.`)
          onClose()
        },
        onError: (error) => toast(error.message, { bad: true }),
      },
    )
  }
  return (
    <Panel
      title={team?.team_name ?? id}
      onClose={onClose}
      footer={
        allowed && (
          <>
            <Button onClick={() => setEditing(true)}>Edit</Button>
            <Button kind="danger" busy={remove.isPending} onClick={ask}>
              Delete
            </Button>
          </>
        )
      }
    >
      <Loaded of={read}>
        {(one) => (
          <>
            <Tabs
              label="About the team"
              tabs={tabs}
              current={tab}
              onChange={(next) => params.set({ tab: next === 'overview' ? undefined : next }, { replace: true })}
            />
            {tab === 'overview' && <Overview of={one} />}
            {tab === 'members' && <PlaceMembers of={placeOf(one)} />}
            {tab === 'keys' && <PlaceKeys of={placeOf(one)} />}
            {tab === 'models' && <PlaceAccess of={placeOf(one)} />}
            {tab === 'own-keys' && <OwnKeys of={one} mayChange={allowed === true} />}
            {editing && <TeamDialog team={one} onClose={() => setEditing(false)} onDone={() => setEditing(false)} />}
          </>
        )}
      </Loaded>
    </Panel>
  )
}

const placeOf = ({ team_id, team_name, organization_id }: Team): PlaceOf => ({
  scope: 'team',
  id: team_id,
  name: team_name,
  organization_id,
})

function Overview({ of: team }: { readonly of: Team }) {
  const may = useMay()
  return (
    <>
      <BudgetAndLimits of={team} />
      <Section
        title="About"
        level={3}
        actions={
          may('audit.read', team) && (
            <ButtonLink small href={pathTo('audit', { resource_id: team.team_id })}>
              History
            </ButtonLink>
          )
        }
      >
        <Facts
          of={[
            ['Id', <Id of={team.team_id} />],
            [
              'Organization',
              <Entity
                id={team.organization_id}
                name={team.organization_name}
                href={
                  team.organization_id && may('org.read')
                    ? pathTo('organizations', { open: team.organization_id })
                    : undefined
                }
              />,
            ],
            ['Members', team.member_count],
            ['Keys', team.key_count],
            ['Created', <Ago at={team.created_at} />],
            ['Changed', <Ago at={team.updated_at} />],
          ]}
        />
      </Section>
    </>
  )
}
