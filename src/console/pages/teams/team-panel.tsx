import { useState } from 'preact/hooks'
import { pathTo } from '../../data/params.ts'
import { useApi, useChange } from '../../data/query.ts'
import { useMay } from '../../data/session.ts'
import { Entity } from '../../design/badge.tsx'
import { Button, CopyButton } from '../../design/button.tsx'
import { confirmed } from '../../design/dialog.tsx'
import { count } from '../../design/format.ts'
import { Facts, Section } from '../../design/page.tsx'
import { Panel } from '../../design/panel.tsx'
import { Loaded } from '../../design/states.tsx'
import { Ago } from '../../design/time.tsx'
import { toast } from '../../design/toast.tsx'
import { Spent } from './spent.tsx'
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
    if (
      !(await confirmed({
        title: `Delete ${name}?`,
        body: 'Its members lose their roles in it. A team that has keys is kept.',
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
            <Section title="Budget" level={3}>
              <Spent team={one} full />
            </Section>
            <Section title="Limits" level={3}>
              <Facts
                of={[
                  ['Requests per minute', limit(one.rpm_limit)],
                  ['Requests per hour', limit(one.rph_limit)],
                  ['Requests per day', limit(one.rpd_limit)],
                  ['Tokens per minute', limit(one.tpm_limit)],
                  ['Tokens per day', limit(one.tpd_limit)],
                ]}
              />
            </Section>
            <Section title="About" level={3}>
              <Facts
                of={[
                  [
                    'Id',
                    <span class="row">
                      <span class="mono">{one.team_id}</span>
                      <CopyButton text={one.team_id} label="Copy the id" />
                    </span>,
                  ],
                  [
                    'Organization',
                    <Entity
                      id={one.organization_id}
                      href={one.organization_id ? pathTo('organizations', { open: one.organization_id }) : undefined}
                    />,
                  ],
                  ['Own keys of members', one.self_service_keys_enabled ? 'on' : 'off'],
                  ['Created', <Ago at={one.created_at} />],
                  ['Changed', <Ago at={one.updated_at} />],
                ]}
              />
            </Section>
            {editing && <TeamDialog team={one} onClose={() => setEditing(false)} onDone={() => setEditing(false)} />}
          </>
        )}
      </Loaded>
    </Panel>
  )
}

const limit = (value: number | null) =>
  value === null ? <span class="quiet">no limit</span> : value === 0 ? 'nothing' : count(value)
