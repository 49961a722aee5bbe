import { mistake } from '../../config/accepted.ts'
import type { Caller } from '../../pipeline/caller.ts'
import type { InvitedAccess } from '../../stores/sql/people/invitation-records.ts'
import type { OrganizationRecords } from '../../stores/sql/records/organization-records.ts'
import type { TeamRecords } from '../../stores/sql/records/team-records.ts'
import { grantableRoles, roleAbove } from '../granting.ts'
import { hasEverywhere, missingPermission, type Reach, reachOf } from '../grants.ts'
import type { Permission } from '../permissions.ts'

/** The names of the places that an invitation is to. */
export interface InvitedPlaces {
  readonly organization: { readonly name: string; readonly role: string } | undefined
  readonly team: { readonly name: string; readonly role: string } | undefined
  /** Of the organization or of the team. */
  readonly organizationId: string | null
}

const INVITING: Permission = 'user.update'

/** Refuses an invitation to where the caller may not invite, or to a role above the caller's own; a place that the caller
 *  does not see might as well not exist. Into no place at all only administrators of the platform invite. */
export async function requireMayInvite(
  records: { readonly organizations: OrganizationRecords; readonly teams: TeamRecords },
  caller: Caller,
  { organization_id, organization_role, team_id, team_role }: InvitedAccess,
): Promise<InvitedPlaces> {
  if (organization_id === null && team_id === null && !hasEverywhere(caller)) throw missingPermission('platform.admin')
  const organization =
    organization_id === null
      ? undefined
      : await records.organizations.find(organization_id, reachOf(caller, 'org.read'))
  if (organization_id !== null) {
    if (!organization) throw mistake('organization_id', 'there is no such organization')
    if (!isWithin(reachOf(caller, INVITING), organization_id)) throw missingPermission(INVITING)
    requireGrantable(caller, 'organization', organization_id, organization_role)
  }
  const team = team_id === null ? undefined : await records.teams.find(team_id, reachOf(caller, 'team.read'))
  if (team_id !== null) {
    if (!team) throw mistake('team_id', 'there is no such team')
    if (organization_id !== null && team.organization_id !== organization_id) {
      throw mistake('team_id', 'belongs to another organization')
    }
    if (!(await records.teams.find(team_id, reachOf(caller, INVITING)))) throw missingPermission(INVITING)
    requireGrantable(caller, 'team', team_id, team_role)
  }
  return {
    organization: organization && {
      name: organization.organization_name ?? organization.organization_id,
      role: organization_role ?? '',
    },
    team: team && { name: team.team_name ?? team.team_id, role: team_role ?? '' },
    organizationId: organization_id ?? team?.organization_id ?? null,
  }
}

function requireGrantable(caller: Caller, scope: 'organization' | 'team', id: string, role: string | null): void {
  if (!grantableRoles(caller, scope, id).includes(role ?? '')) throw roleAbove(`${scope}_role`)
}

function isWithin(reach: Reach, organizationId: string): boolean {
  return reach === 'everything' || reach.organizations.includes(organizationId)
}
