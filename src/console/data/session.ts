import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Answer } from './client.ts'

/** Who has signed in, with what they may do everywhere, in organizations and in teams. */
export type Session = Extract<Answer<'GET /auth/me'>, { authenticated: true }>
export type Permission = Session['permissions'][number]

export const SessionContext = createContext<Session | undefined>(undefined)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new TypeError('there is a session wherever a page is shown')
  return session
}

/** Where something is: in a team, in an organization, or (both left out) anywhere. */
export interface Place {
  readonly team_id?: string | null | undefined
  readonly organization_id?: string | null | undefined
}

/** What the lists of the console are limited to: everything, an organization, or a team. */
export interface ScopeChoice {
  readonly organization_id?: string
  readonly team_id?: string
}

/** Whether the person may do something at a place: by a permission that holds everywhere, in its organization or in its
 *  team. Without a place: anywhere at all. */
export function may(session: Session, permission: Permission, place?: Place): boolean {
  if (session.permissions.includes(permission)) return true
  const { organizations, teams } = session
  return (
    organizations.some(
      ({ id, permissions }) => permissions.includes(permission) && (!place || id === place.organization_id),
    ) || teams.some(({ id, permissions }) => permissions.includes(permission) && (!place || id === place.team_id))
  )
}

export function useMay(): (permission: Permission, place?: Place) => boolean {
  const session = useSession()
  return (permission, place) => may(session, permission, place)
}
