import { PERMISSIONS } from '../../../src/identity/permissions.ts'
import { ORGANIZATION_ROLES, permissionsOf, TEAM_ROLES } from '../../../src/identity/roles.ts'

/** What each role of an organization or a team permits there. */
export function rolePermissions(): string {
  const roles = [...ORGANIZATION_ROLES, ...TEAM_ROLES]
  const given = PERMISSIONS.filter((permission) => roles.some((role) => permissionsOf(role).has(permission)))
  const rows = given.map((permission) => {
    const cells = roles.map((role) => (permissionsOf(role).has(permission) ? '✓' : ''))
    return `| \`${permission}\` | ${cells.join(' | ')} |`
  })
  const head = `| | ${roles.map((role) => `\`${role}\``).join(' | ')} |`
  return [head, `|---|${roles.map(() => ':-:|').join('')}`, ...rows].join('\n')
}
