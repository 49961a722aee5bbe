import { GatewayError } from '../lib/errors.ts'
import type { Caller } from '../pipeline/caller.ts'

/** What an admin route asks of its caller. Roles give some of them in an organization or a team; `platform.admin` and
 *  `config.*` belong to platform admins. */
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

/** Refuses a caller without the permission. The one place where that is decided. */
export function requirePermission(caller: Caller, permission: Permission): void {
  if (caller.kind === 'master_key') return
  throw new GatewayError('permission', `This needs the permission ${permission}, which the caller does not have.`, {
    code: 'missing_permission',
  })
}
