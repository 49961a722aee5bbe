/** The permissions of admin routes. Roles grant some of them in an organization or a team; only platform admins have
 *  `platform.admin` and `config.*`. */
export const PERMISSIONS = [
  'platform.admin',
  'org.read',
  'org.update',
  'team.read',
  'team.update',
  'user.read',
  'user.update',
  'key.read',
  'key.update',
  'key.revoke',
  'key.create_self',
  'spend.read',
  'audit.read',
  'config.read',
  'config.update',
] as const
export type Permission = (typeof PERMISSIONS)[number]
