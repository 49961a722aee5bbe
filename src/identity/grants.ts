import { GatewayError } from '../lib/errors.ts'
import type { Caller } from '../pipeline/caller.ts'
import type { Owner, Reach } from '../stores/sql/records/reach.ts'
import type { Permission } from './permissions.ts'
import { type Grant, type Grants, isSession } from './session-caller.ts'

export type { Owner, Reach }

const NO_GRANTS: readonly Grant[] = []
const NOTHING = { organizations: [], teams: [] } as const satisfies Reach

/** What a caller may administer. Virtual keys never administer, and a session does so only once its second factor and
 *  its password are in order. */
export function grantsOf(caller: Caller): Grants {
  if (caller.kind === 'master_key') return 'everything'
  return isSession(caller) && caller.session.standing === 'complete' ? caller.session.grants : NO_GRANTS
}

/** Where a caller has a permission: what a list shows, and which records exist for the caller. */
export function reachOf(caller: Caller, permission: Permission): Reach {
  const grants = grantsOf(caller)
  if (grants === 'everything') return grants
  const giving = grants.filter(({ permissions }) => permissions.has(permission))
  if (giving.length === 0) return NOTHING
  const of = (scope: Grant['scope']) => giving.filter((grant) => grant.scope === scope).map(({ id }) => id)
  // The limits and names of a user hold wherever the user is a member.
  const wholeUsers = permission === 'user.update'
  return { organizations: of('organization'), teams: of('team'), ...(wholeUsers && { wholeUsers }) }
}

/** The same reach, extended by what the caller owns. */
export function reachWithOwn(caller: Caller, permission: Permission): Reach {
  const reach = reachOf(caller, permission)
  return reach === 'everything' ? reach : { ...reach, own: ownerOf(caller) }
}

/** The reach of what the caller owns alone. */
export function ownReach(caller: Caller): Reach {
  return { ...NOTHING, own: ownerOf(caller) }
}

/** The person of a complete session. */
export function ownerOf(caller: Caller): Owner | undefined {
  if (!isSession(caller) || caller.session.standing !== 'complete') return undefined
  const { account } = caller.session
  return account && { accountId: account.accountId, userId: account.userId }
}

/** Whether the caller has the permission anywhere. */
export function hasPermission(caller: Caller, permission: Permission): boolean {
  const grants = grantsOf(caller)
  return grants === 'everything' || grants.some(({ permissions }) => permissions.has(permission))
}

/** Whether the caller has the permission wherever it is asked for. */
export function hasEverywhere(caller: Caller): boolean {
  return grantsOf(caller) === 'everything'
}

export function missingPermission(permission: Permission): GatewayError {
  return new GatewayError('permission', `This needs the permission ${permission}, which the caller does not have.`, {
    code: 'missing_permission',
  })
}
