import { api } from '../../data/client.ts'
import { refresh } from '../../data/query.ts'
import { may, type Session, useSession } from '../../data/session.ts'
import { Button } from '../../design/button.tsx'
import { confirmed } from '../../design/confirmed.ts'
import { toast } from '../../design/toast.tsx'
import { type PlaceOf, routesOf } from './place.ts'
import { roleName, rolesToGive, type TeamRole } from './roles.ts'

export interface Member {
  readonly user_id: string
  /** How the person is called. */
  readonly label: string
  readonly role: string
}

/** The role of a member: to be changed or taken where the reader may, which is nowhere above the own role. */
export function MemberRole({ place, member }: { readonly place: PlaceOf; readonly member: Member }) {
  const session = useSession()
  const { scope, id } = place
  const { user_id, label, role } = member
  const name = place.name ?? id
  const roles = rolesToGive(session, scope, id)
  if (!mayManage(session, place) || !roles.some(({ value }) => value === role)) return <span>{roleName(role)}</span>

  async function work(done: string, change: () => Promise<unknown>): Promise<void> {
    try {
      await change()
      toast(done)
    } catch (error) {
      toast((error as Error).message, { bad: true })
    }
    await refreshPeople()
  }
  async function leave(): Promise<void> {
    const sure = await confirmed({
      title: `Remove ${label} from ${name}?`,
      body:
        scope === 'team'
          ? 'Keys that this person owns in the team are revoked at once.'
          : 'The person leaves the teams of the organization too. Keys that they own there are revoked at once.',
      action: 'Remove',
      danger: true,
    })
    if (!sure) return
    const { removeMember, params } = routesOf(place)
    await work(`${label} is no member of ${name} any more.`, async () => {
      const { revoked_keys: keys } = await api(removeMember, { params: { ...params, user_id } })
      if (keys.length > 0) toast(keys.length === 1 ? 'One key is revoked.' : `${keys.length} keys are revoked.`)
    })
  }
  return (
    <>
      <select
        class="input"
        aria-label={`Role of ${label} in ${name}`}
        value={role}
        onChange={({ currentTarget: { value } }) =>
          void work(`${label} is ${roleName(value)} of ${name}.`, () => giveRole(place, user_id, value))
        }
      >
        {roles.map(({ value, label: word, note }) => (
          <option key={value} value={value} title={note}>
            {word}
          </option>
        ))}
      </select>
      <Button small kind="plain" icon="close" label={`Remove ${label} from ${name}`} onClick={leave} />
    </>
  )
}

/** Whether the reader may change who belongs to it. */
export const mayManage = (session: Session, { scope, id, organization_id }: PlaceOf): boolean =>
  scope === 'team'
    ? may(session, 'team.update', { team_id: id, organization_id })
    : may(session, 'org.update', { organization_id: id })

/** Makes somebody a member, or gives a member another role. */
export function giveRole(place: Pick<PlaceOf, 'scope' | 'id'>, user_id: string, role: string): Promise<unknown> {
  const { putMember, params } = routesOf(place)
  return api(putMember, { params, body: { user_id, role: role as TeamRole } })
}

/** Reads anew what tells of members. */
export const refreshPeople = (): Promise<void> =>
  refresh('/ui/api/accounts', '/ui/api/users', '/ui/api/teams', '/ui/api/organizations')
