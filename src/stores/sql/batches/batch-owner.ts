import { type RawBuilder, sql } from 'kysely'

/** Who a file or a batch belongs to: the key that made it, and all keys of that key's team. */
export interface BatchOwner {
  readonly keyId: string
  readonly teamId: string | null
  readonly organizationId: string | null
  readonly userId: string | null
}

export function batchOwnerOf(caller: {
  readonly kind: string
  readonly keyId: string | undefined
  readonly teamId: string | undefined
  readonly organizationId: string | undefined
  readonly userId: string | undefined
}): BatchOwner {
  return {
    keyId: caller.keyId ?? caller.kind,
    teamId: caller.teamId ?? null,
    organizationId: caller.organizationId ?? null,
    userId: caller.userId ?? null,
  }
}

/** The condition that a row belongs to the owner. A removed key or team may have left rows, and its id may be in use
 *  again. Keys and teams never change their organization, so that one of another organization is another owner. */
export function ownedBy(owner: BatchOwner, table: 'gateway_file' | 'gateway_batch'): RawBuilder<boolean> {
  const { organizationId, teamId } = owner
  const column = (name: string) => sql.ref(`${table}.${name}`)
  const organization = sql`${column('organization_id')} IS NOT DISTINCT FROM ${organizationId}::text`
  const sameKey = sql`${column('key_id')} = ${owner.keyId}`
  if (teamId === null) return sql`(${sameKey} AND ${column('team_id')} IS NULL AND ${organization})`
  return sql`(${column('team_id')} = ${teamId} AND ${organization})`
}

/** The columns of an owner. */
export const ownerColumns = (owner: BatchOwner) => ({
  key_id: owner.keyId,
  team_id: owner.teamId,
  organization_id: owner.organizationId,
  user_id: owner.userId,
})
