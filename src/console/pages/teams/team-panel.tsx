import { useState } from 'preact/hooks'
import { useChange } from '../../data/change.ts'
import { pathTo } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { useMay } from '../../data/session.ts'
import { Entity } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { performed } from '../../design/confirmed.ts'
import { Facts, Section } from '../../design/page.tsx'
import { Loaded } from '../../design/states.tsx'
import { Ago } from '../../design/time.tsx'
import type { PlaceOf } from '../place/place.ts'
import { PlaceAttention } from '../place/place-attention.tsx'
import { BudgetAndLimits, Id } from '../place/place-facts.tsx'
import { PlacePanel } from '../place/place-panel.tsx'
import { OwnKeys } from './own-keys.tsx'
import type { Team } from './team.ts'
import { TeamDialog } from './team-dialog.tsx'

export function TeamPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const may = useMay()
  const [editing, setEditing] = useState(false)
  const read = useApi('GET /ui/api/teams/{team_id}', { params: { team_id: id } })
  const remove = useChange('DELETE /ui/api/teams/{team_id}', { refreshes: ['/ui/api/teams'] })
  const { data: team } = read
  const allowed = team && may('team.update', team)
  async function ask(): Promise<void> {
    const name = team?.team_name ?? id
    const members = team?.member_count ?? 0
    const question = {
      title: `Delete ${name}?`,
      body: `${members === 1 ? 'One member loses the role' : `${members} members lose their roles`} in it. A team that has keys is kept.`,
      action: 'Delete',
      danger: true,
      done: `${name} is deleted.`,
    }
    if (await performed(question, () => remove.mutateAsync({ params: { team_id: id } }))) onClose()
  }
  return (
    <PlacePanel
      of={team ? placeOf(team) : { scope: 'team', id, name: null, organization_id: null }}
      isThere={team !== undefined}
      title={team?.team_name ?? id}
      noun="team"
      onClose={onClose}
      overview={() => team && <Overview of={team} />}
      more={
        team && [{ id: 'own-keys', label: 'Own keys', view: () => <OwnKeys of={team} mayChange={allowed === true} /> }]
      }
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
        {(one) =>
          editing && <TeamDialog team={one} onClose={() => setEditing(false)} onDone={() => setEditing(false)} />
        }
      </Loaded>
    </PlacePanel>
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
      <PlaceAttention of={placeOf(team)} />
      <BudgetAndLimits of={team} />
      <Section title="About" level={3}>
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
