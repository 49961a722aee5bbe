import { useState } from 'preact/hooks'
import { pathTo, useParams } from '../../data/params.ts'
import { useApi, useChange } from '../../data/query.ts'
import { useMay } from '../../data/session.ts'
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
import { type Organization, OrganizationDialog } from './organization-dialog.tsx'

export function OrganizationPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const params = useParams()
  const may = useMay()
  const [editing, setEditing] = useState(false)
  const at = { organization_id: id }
  const read = useApi('GET /ui/api/organizations/{organization_id}', { params: at })
  const remove = useChange('DELETE /ui/api/organizations/{organization_id}', { refreshes: ['/ui/api/organizations'] })
  const { data: organization } = read
  const tabs = [
    { id: 'overview', label: 'Overview' },
    { id: 'members', label: 'Members' },
    ...(may('key.read', at) ? [{ id: 'keys', label: 'Keys' }] : []),
    { id: 'models', label: 'Models' },
  ]
  const tab = tabs.find((one) => one.id === params.get('tab'))?.id ?? 'overview'
  const name = organization?.organization_name ?? id
  const place: PlaceOf = { scope: 'organization', id, name: organization?.organization_name ?? null, ...at }
  async function ask(): Promise<void> {
    const sure = await confirmed({
      title: `Delete ${name}?`,
      body: 'Its members lose their roles in it. An organization that has teams or keys is kept.',
      action: 'Delete',
      danger: true,
    })
    if (!sure) return
    remove.mutate(
      { params: at },
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
      title={name}
      onClose={onClose}
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
        {(one) => (
          <>
            <Tabs
              label="About the organization"
              tabs={tabs}
              current={tab}
              onChange={(next) => params.set({ tab: next === 'overview' ? undefined : next }, { replace: true })}
            />
            {tab === 'overview' && <Overview of={one} />}
            {tab === 'members' && <PlaceMembers of={place} />}
            {tab === 'keys' && <PlaceKeys of={place} />}
            {tab === 'models' && <PlaceAccess of={place} />}
            {editing && (
              <OrganizationDialog
                organization={one}
                onClose={() => setEditing(false)}
                onDone={() => setEditing(false)}
              />
            )}
          </>
        )}
      </Loaded>
    </Panel>
  )
}

function Overview({ of: organization }: { readonly of: Organization }) {
  const may = useMay()
  const { organization_id, team_count, member_count, key_count, created_at, updated_at } = organization
  return (
    <>
      <BudgetAndLimits of={organization} />
      <Section
        title="About"
        level={3}
        actions={
          may('audit.read', organization) && (
            <ButtonLink small href={pathTo('audit', { organization_id })}>
              History
            </ButtonLink>
          )
        }
      >
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
