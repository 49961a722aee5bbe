import { useState } from 'preact/hooks'
import { useChange } from '../../data/change.ts'
import { pathTo } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { useMay } from '../../data/session.ts'
import { Button } from '../../design/button.tsx'
import { performed } from '../../design/confirmed.ts'
import { Facts, Section } from '../../design/page.tsx'
import { Loaded } from '../../design/states.tsx'
import { Ago } from '../../design/time.tsx'
import type { PlaceOf } from '../place/place.ts'
import { PlaceAttention } from '../place/place-attention.tsx'
import { BudgetAndLimits, Id } from '../place/place-facts.tsx'
import { PlacePanel } from '../place/place-panel.tsx'
import { type Organization, OrganizationDialog } from './organization-dialog.tsx'

export function OrganizationPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const may = useMay()
  const [editing, setEditing] = useState(false)
  const at = { organization_id: id }
  const read = useApi('GET /ui/api/organizations/{organization_id}', { params: at })
  const remove = useChange('DELETE /ui/api/organizations/{organization_id}', { refreshes: ['/ui/api/organizations'] })
  const { data: organization } = read
  const name = organization?.organization_name ?? id
  const place: PlaceOf = { scope: 'organization', id, name: organization?.organization_name ?? null, ...at }
  async function ask(): Promise<void> {
    const question = {
      title: `Delete ${name}?`,
      body: 'Its members lose their roles in it. An organization that has teams or keys is kept.',
      action: 'Delete',
      danger: true,
      done: `${name} is deleted.`,
    }
    if (await performed(question, () => remove.mutateAsync({ params: at }))) onClose()
  }
  return (
    <PlacePanel
      of={place}
      isThere={organization !== undefined}
      title={name}
      noun="organization"
      onClose={onClose}
      overview={() => organization && <Overview of={organization} place={place} />}
      footer={
        organization &&
        may('org.update', at) && (
          <>
            <Button onClick={() => setEditing(true)}>Edit</Button>
            {may('platform.admin') && (
              <Button kind="danger" busy={remove.isPending} onClick={ask}>
                Delete
              </Button>
            )}
          </>
        )
      }
    >
      <Loaded of={read}>
        {(one) =>
          editing && (
            <OrganizationDialog organization={one} onClose={() => setEditing(false)} onDone={() => setEditing(false)} />
          )
        }
      </Loaded>
    </PlacePanel>
  )
}

function Overview({ of: organization, place }: { readonly of: Organization; readonly place: PlaceOf }) {
  const { organization_id, team_count, member_count, key_count, created_at, updated_at } = organization
  return (
    <>
      <PlaceAttention of={place} />
      <BudgetAndLimits of={organization} />
      <Section title="About" level={3}>
        <Facts
          of={[
            ['Id', <Id of={organization_id} />],
            ['Teams', <a href={pathTo('teams', { organization_id })}>{team_count}</a>],
            ['Members', member_count],
            ['Keys', key_count],
            ['Created', <Ago at={created_at} />],
            ['Changed', <Ago at={updated_at} />],
          ]}
        />
      </Section>
    </>
  )
}
