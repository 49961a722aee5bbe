import { GatewayError } from '../lib/errors.ts'
import type { Caller } from '../pipeline/caller.ts'
import type { MembershipScope } from '../stores/sql/records/membership-records.ts'
import { grantsOf } from './grants.ts'
import { ORGANIZATION_ROLES, type OrganizationRole, TEAM_ROLES } from './roles.ts'

/** The roles that a caller may grant and revoke in an organization or team whose members it may change: none above its
 *  own. Everybody who may change a team's members may grant all of its roles. */
export function grantableRoles(caller: Caller, scope: MembershipScope, id: string): readonly string[] {
  if (scope === 'team') return TEAM_ROLES
  const grants = grantsOf(caller)
  if (grants === 'everything') return ORGANIZATION_ROLES
  const own = grants.find((grant) => grant.scope === scope && grant.id === id)
  if (!own?.permissions.has('org.update')) return []
  return ORGANIZATION_ROLES.slice(ORGANIZATION_ROLES.indexOf(own.role as OrganizationRole))
}

export function roleAbove(parameter = 'role'): GatewayError {
  return new GatewayError('permission', 'This role is above your own. You cannot give, change or remove it.', {
    param: parameter,
    code: 'role_above_own',
  })
}
