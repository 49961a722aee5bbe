import { GatewayError } from '../lib/errors.ts'
import type { Caller } from '../pipeline/caller.ts'

/** What an admin route requires of its caller. Roles grant some of them in an organization or a team; `platform.admin`
 *  and `config.*` belong to platform admins. */
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

/** Whether a caller has a permission; no other code decides that. */
export function hasPermission(caller: Caller, _permission: Permission): boolean {
  return caller.kind === 'master_key'
}

/** Refuses a caller without the permission. */
export function requirePermission(caller: Caller, permission: Permission): void {
  if (hasPermission(caller, permission)) return
  throw new GatewayError('permission', `This needs the permission ${permission}, which the caller does not have.`, {
    code: 'missing_permission',
  })
}
