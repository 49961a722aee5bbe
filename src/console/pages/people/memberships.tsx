import { useState } from 'preact/hooks'
import { api } from '../../data/client.ts'
import { pathTo } from '../../data/params.ts'
import { refresh } from '../../data/query.ts'
import { may, type Session, useMay, useSession } from '../../data/session.ts'
import { Entity } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { confirmed } from '../../design/dialog.tsx'
import { Section } from '../../design/page.tsx'
import { toast } from '../../design/toast.tsx'
import { MembershipDialog } from './membership-dialog.tsx'
import type { Membership, Person } from './person.ts'
import { type OrganizationRole, roleName, rolesToGive, type TeamRole } from './roles.ts'

/** What somebody belongs to, with the roles there: to be changed where the reader may. */
export function Memberships({ person }: { readonly person: Person }) {
  const session = useSession()
  const mayAnywhere = useMay()
  const [adding, setAdding] = useState(false)
  return (
    <Section
      title="Member of"
      level={3}
      actions={
        (mayAnywhere('team.update') || mayAnywhere('org.update')) && (
          <Button small icon="plus" onClick={() => setAdding(true)}>
            Add
          </Button>
        )
      }
    >
      {person.memberships.length === 0 ? (
        <p class="quiet">No organization and no team. Calls and pages of a team need a membership.</p>
      ) : (
        <ul class="members">
          {person.memberships.map((one) => (
            <li key={`${one.scope}:${one.id}`}>
              <span>
                <Entity
                  id={one.id}
                  name={one.name}
                  href={pathTo(one.scope === 'team' ? 'teams' : 'organizations', { open: one.id })}
                />{' '}
                <span class="quiet small">{one.scope}</span>
              </span>
              {mayChange(session, one) ? (
                <Change person={person} membership={one} />
              ) : (
                <span>{roleName(one.role)}</span>
              )}
            </li>
          ))}
        </ul>
      )}
      {adding && <MembershipDialog person={person} onClose={() => setAdding(false)} />}
    </Section>
  )
}

/** Nobody changes a role above the own one. */
function mayChange(session: Session, { scope, id, role, organization_id }: Membership): boolean {
  if (scope === 'team') return may(session, 'team.update', { team_id: id, organization_id })
  return (
    may(session, 'org.update', { organization_id: id }) &&
    rolesToGive(session, scope, id).some(({ value }) => value === role)
  )
}

function Change({ person, membership }: { readonly person: Person; readonly membership: Membership }) {
  const session = useSession()
  const { scope, id, role, name } = membership
  const place = name ?? id
  async function work(done: string, change: () => Promise<unknown>): Promise<void> {
    try {
      await change()
      toast(done)
    } catch (error) {
      toast((error as Error).message, { bad: true })
    }
    await refresh('/ui/api/accounts', '/ui/api/teams', '/ui/api/organizations')
  }
  async function leave(): Promise<void> {
    const sure = await confirmed({
      title: `Remove ${person.email} from ${place}?`,
      body:
        scope === 'team'
          ? 'Keys that this person owns in the team are revoked at once.'
          : 'The person leaves the teams of the organization too. Keys that they own there are revoked at once.',
      action: 'Remove',
      danger: true,
    })
    if (!sure) return
    const params = { user_id: person.user_id }
    let revoked = 0
    await work(`${person.email} is no member of ${place} any more.`, async () => {
      const left =
        scope === 'team'
          ? await api('DELETE /ui/api/teams/{team_id}/members/{user_id}', { params: { ...params, team_id: id } })
          : await api('DELETE /ui/api/organizations/{organization_id}/members/{user_id}', {
              params: { ...params, organization_id: id },
            })
      revoked = left.revoked_keys.length
    })
    if (revoked > 0) toast(revoked === 1 ? 'One key is revoked.' : `${revoked} keys are revoked.`)
  }
  return (
    <>
      <select
        class="input"
        aria-label={`Role in ${place}`}
        value={role}
        onChange={({ currentTarget: { value } }) =>
          void work(`${person.email} is ${roleName(value)} of ${place}.`, () =>
            giveRole(person.user_id, scope, id, value),
          )
        }
      >
        {rolesToGive(session, scope, id).map(({ value, label, note }) => (
          <option key={value} value={value} title={note}>
            {label}
          </option>
        ))}
      </select>
      <Button small kind="plain" icon="close" label={`Remove from ${place}`} onClick={leave} />
    </>
  )
}

/** Makes somebody a member, or gives a member another role. */
export function giveRole(user_id: string, scope: Membership['scope'], id: string, role: string): Promise<unknown> {
  return scope === 'team'
    ? api('POST /ui/api/teams/{team_id}/members', {
        params: { team_id: id },
        body: { user_id, role: role as TeamRole },
      })
    : api('POST /ui/api/organizations/{organization_id}/members', {
        params: { organization_id: id },
        body: { user_id, role: role as OrganizationRole },
      })
}
