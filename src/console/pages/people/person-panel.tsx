import { useState } from 'preact/hooks'
import { pathTo } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { useMay } from '../../data/session.ts'
import { Badge } from '../../design/badge.tsx'
import { Button, ButtonLink, CopyButton } from '../../design/button.tsx'
import { count } from '../../design/format.ts'
import { Facts, Section } from '../../design/page.tsx'
import { Panel } from '../../design/panel.tsx'
import { Loaded } from '../../design/states.tsx'
import { Ago } from '../../design/time.tsx'
import { Spent } from '../place/spent.tsx'
import { AccountActions } from './account-actions.tsx'
import { Memberships } from './memberships.tsx'
import { type Person, waysIn } from './person.ts'
import { PersonState } from './person-list.tsx'
import { UserDialog } from './user-dialog.tsx'

export function PersonPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const may = useMay()
  const read = useApi('GET /ui/api/accounts/{account_id}', { params: { account_id: id } })
  const { data: person } = read
  return (
    <Panel
      title={person?.user_name ?? person?.email ?? id}
      onClose={onClose}
      footer={person && may('platform.admin') && <AccountActions person={person} onGone={onClose} />}
    >
      <Loaded of={read}>
        {(one) => (
          <>
            <About person={one} />
            <Memberships person={one} />
            <Money person={one} />
          </>
        )}
      </Loaded>
    </Panel>
  )
}

function About({ person }: { readonly person: Person }) {
  const may = useMay()
  return (
    <Section
      title="Account"
      level={3}
      actions={
        may('audit.read') && (
          <ButtonLink small href={pathTo('audit', { actor_id: person.account_id })}>
            What they did
          </ButtonLink>
        )
      }
    >
      <Facts
        of={[
          [
            'Address',
            <span class="row">
              {person.email}
              {!person.email_proved && <Badge tone="warn">not confirmed</Badge>}
            </span>,
          ],
          ['State', <PersonState of={person} />],
          ['On the platform', person.platform_role === 'platform_admin' ? 'administrator of everything' : undefined],
          ['Signs in with', waysIn(person)],
          ['Password', person.must_change_password ? 'has to be changed at the next sign-in' : undefined],
          ['Last sign-in', <Ago at={person.last_login_at} never="never" />],
          ['Created', <Ago at={person.created_at} />],
          [
            'Id',
            <span class="row">
              <span class="mono">{person.account_id}</span>
              <CopyButton text={person.account_id} label="Copy the id" />
            </span>,
          ],
        ]}
      />
    </Section>
  )
}

/** What a person may spend and has spent, over all keys that count for them. */
function Money({ person }: { readonly person: Person }) {
  const may = useMay()
  const [editing, setEditing] = useState(false)
  const read = useApi('GET /ui/api/users/{user_id}', { params: { user_id: person.user_id } })
  return (
    <Section
      title="Budget and limits"
      level={3}
      actions={
        may('platform.admin') &&
        read.data && (
          <Button small onClick={() => setEditing(true)}>
            Change
          </Button>
        )
      }
    >
      <Loaded of={read} lines={2}>
        {(user) => (
          <>
            <p>
              <Spent of={user} full />
              {user.max_budget === null && ' spent, no budget'}
            </p>
            <Facts
              of={[
                ['Requests per minute', user.rpm_limit === null ? undefined : count(user.rpm_limit)],
                ['Tokens per minute', user.tpm_limit === null ? undefined : count(user.tpm_limit)],
                ['Requests per day', user.rpd_limit === null ? undefined : count(user.rpd_limit)],
              ]}
            />
            {editing && <UserDialog user={user} name={person.email} onClose={() => setEditing(false)} />}
          </>
        )}
      </Loaded>
    </Section>
  )
}
