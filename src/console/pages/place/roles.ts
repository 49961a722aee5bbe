import type { Session } from '../../data/session.ts'
import type { Option } from '../../design/form/combobox.tsx'

/** What a member of an organization may be, the mightiest first, as the gateway ranks them. */
const ORGANIZATION_ROLES = [
  { value: 'org_owner', label: 'Owner', note: 'everything in the organization, its spend too' },
  { value: 'org_admin', label: 'Admin', note: 'teams, people and keys' },
  { value: 'org_billing', label: 'Billing', note: 'reads spend and keys' },
  { value: 'org_auditor', label: 'Auditor', note: 'reads everything, the audit too' },
  { value: 'org_member', label: 'Member', note: 'sees the organization and its teams' },
] as const

export const TEAM_ROLES = [
  { value: 'team_admin', label: 'Admin', note: 'people, keys and limits of the team' },
  {
    value: 'team_developer',
    label: 'Developer',
    note: 'calls models, with keys of their own where the team allows it',
  },
  { value: 'team_viewer', label: 'Viewer', note: 'sees the team' },
] as const

export type OrganizationRole = (typeof ORGANIZATION_ROLES)[number]['value']
export type TeamRole = (typeof TEAM_ROLES)[number]['value']

export const roleName = (role: string | null): string =>
  [...ORGANIZATION_ROLES, ...TEAM_ROLES].find(({ value }) => value === role)?.label ?? role ?? ''

/** The roles of a place that somebody may give: none above the own one. */
export function rolesToGive(session: Session, scope: 'organization' | 'team', id: string | null): readonly Option[] {
  if (scope === 'team') return TEAM_ROLES
  if (session.permissions.includes('org.update')) return ORGANIZATION_ROLES
  const own = session.organizations.find((one) => one.id === id)
  const at = ORGANIZATION_ROLES.findIndex(({ value }) => value === own?.role)
  return own?.permissions.includes('user.update') && at >= 0 ? ORGANIZATION_ROLES.slice(at) : []
}

export const explained = (options: readonly Option[]): Option[] =>
  options.map(({ value, label, note }) => ({ value, label: note ? `${label}: ${note}` : label }))
