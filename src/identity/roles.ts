import { TEAM_ROLES, type TeamRole } from '../config/sections/self-registration.ts'
import type { Permission } from './permissions.ts'

export { TEAM_ROLES }

/** The roles of accounts on the whole installation. */
export const PLATFORM_ROLES = ['platform_admin', 'org_user'] as const
export type PlatformRole = (typeof PLATFORM_ROLES)[number]

/** The roles in an organization, the most powerful first. */
export const ORGANIZATION_ROLES = ['org_owner', 'org_admin', 'org_billing', 'org_auditor', 'org_member'] as const
export type OrganizationRole = (typeof ORGANIZATION_ROLES)[number]

/** The roles by where they are held. */
export const ROLES = { organization: ORGANIZATION_ROLES, team: TEAM_ROLES } as const

const OF_TEAM_ADMIN = [
  'team.read',
  'team.update',
  'user.read',
  'user.update',
  'key.read',
  'key.update',
  'key.revoke',
  'key.create_self',
] as const satisfies readonly Permission[]

const OF_ORG_ADMIN = ['org.read', 'org.update', ...OF_TEAM_ADMIN, 'audit.read'] as const satisfies readonly Permission[]

const OF_ORGANIZATIONS: Readonly<Record<OrganizationRole, readonly Permission[]>> = {
  org_owner: [...OF_ORG_ADMIN, 'spend.read'],
  org_admin: OF_ORG_ADMIN,
  org_billing: ['org.read', 'team.read', 'key.read', 'spend.read'],
  org_auditor: ['org.read', 'team.read', 'user.read', 'key.read', 'spend.read', 'audit.read'],
  org_member: ['org.read', 'team.read'],
}

const OF_TEAMS: Readonly<Record<TeamRole, readonly Permission[]>> = {
  team_admin: OF_TEAM_ADMIN,
  team_developer: ['team.read', 'user.read', 'key.read', 'key.create_self'],
  team_viewer: ['team.read'],
}

const GRANTED: Readonly<Record<string, ReadonlySet<Permission>>> = Object.fromEntries(
  Object.entries({ ...OF_ORGANIZATIONS, ...OF_TEAMS }).map(([role, permissions]) => [role, new Set(permissions)]),
)
const NONE: ReadonlySet<Permission> = new Set()

/** The permissions of a role in its organization or team. An unknown role has none. */
export function permissionsOf(role: string): ReadonlySet<Permission> {
  return Object.hasOwn(GRANTED, role) ? (GRANTED[role] ?? NONE) : NONE
}

/** Who may invite. */
export const INVITERS = {
  roles: [...ORGANIZATION_ROLES, ...TEAM_ROLES].filter((role) => permissionsOf(role).has('user.update')),
  organizationRoles: ORGANIZATION_ROLES,
}
