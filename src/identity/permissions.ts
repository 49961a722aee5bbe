import { GatewayError } from '../lib/errors.ts'
import type { Caller } from '../pipeline/caller.ts'

/** What an admin route asks of its caller. */
export type Permission = 'config.read' | 'config.update'

/** Refuses a caller without the permission. The one place where that is decided. */
export function requirePermission(caller: Caller, permission: Permission): void {
  if (caller.kind === 'master_key') return
  throw new GatewayError('permission', `This needs the permission ${permission}, which the caller does not have.`, {
    code: 'missing_permission',
  })
}
