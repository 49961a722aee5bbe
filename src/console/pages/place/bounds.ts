import { useApi } from '../../data/query.ts'
import { useMay } from '../../data/session.ts'
import type { Bound } from '../../design/form/budget-and-limits.tsx'

interface Belongs {
  readonly team_id?: string | null
  readonly organization_id?: string | null
  readonly user_id?: string | null
}

/** The limits and budgets that hold as well for what belongs to a team, an organization or a person: as far as they may be
 *  read. */
export function useBounds({ team_id, organization_id, user_id }: Belongs): readonly Bound[] {
  const may = useMay()
  const team = useApi(
    'GET /ui/api/teams/{team_id}',
    { params: { team_id: team_id ?? '' } },
    { enabled: Boolean(team_id) && may('team.read') },
  ).data
  const home = (team_id ? team?.organization_id : organization_id) ?? null
  const organization = useApi(
    'GET /ui/api/organizations/{organization_id}',
    { params: { organization_id: home ?? '' } },
    { enabled: home !== null && may('org.read', { organization_id: home }) },
  ).data
  const user = useApi(
    'GET /ui/api/users/{user_id}',
    { params: { user_id: user_id ?? '' } },
    { enabled: Boolean(user_id) && may('user.read') },
  ).data
  return [
    ...(home !== null && organization?.organization_id === home
      ? [{ name: organization.organization_name ?? home, of: organization }]
      : []),
    ...(team_id && team?.team_id === team_id ? [{ name: team.team_name ?? team_id, of: team }] : []),
    ...(user_id && user?.user_id === user_id ? [{ name: user.user_name ?? user.user_email ?? user_id, of: user }] : []),
  ]
}
