import { missingPermission, type Reach, reachOf, reachWithOwn } from '../../../identity/grants.ts'
import type { Permission } from '../../../identity/permissions.ts'
import type { GatewayError } from '../../../lib/errors.ts'
import type { Scope } from '../../scope.ts'
import { absent, type RecordKind, type ScopeRow } from './record-kind.ts'

/** Where the caller has a permission. */
export function reach(scope: Scope, permission: Permission): Reach {
  return reachOf(scope.caller(), permission)
}

/** Where the caller sees records of a kind. */
export function visible<Row extends ScopeRow>(scope: Scope, { permissions, ownersFields }: RecordKind<Row>): Reach {
  return ownersFields ? reachWithOwn(scope.caller(), permissions.read) : reach(scope, permissions.read)
}

/** Where the caller may do to one record what requires the permission, or ownership. */
export function reachOfOwner<Row extends ScopeRow>(
  scope: Scope,
  { ownersFields }: RecordKind<Row>,
  permission: Permission,
): Reach {
  return ownersFields ? reachWithOwn(scope.caller(), permission) : reach(scope, permission)
}

/** Shows what is done to a record, or refused, in the audit of its organization. */
export function auditsOf(scope: Scope, row: object): void {
  const { organization_id: organization } = row as { readonly organization_id?: unknown }
  scope.audits({ organization_id: typeof organization === 'string' ? organization : null })
}

/** The refusal where no record was found within the permission's reach: 403 if the caller may read the record, else the
 *  404 of a record that does not exist. */
export async function refused<Row extends ScopeRow>(
  scope: Scope,
  kind: RecordKind<Row>,
  id: string,
  permission: Permission,
): Promise<GatewayError> {
  const where = visible(scope, kind)
  if (where === 'everything') return absent(kind)
  const seen = await kind.records(scope.services).find(id, where)
  if (!seen) return absent(kind)
  auditsOf(scope, seen)
  return missingPermission(permission)
}
