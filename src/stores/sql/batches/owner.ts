import { type RawBuilder, sql } from 'kysely'

/** Who a file or a batch belongs to: the key that made it, and all keys of that key's team. */
export interface Owner {
  readonly keyId: string
  readonly teamId: string | null
  readonly organizationId: string | null
  readonly userId: string | null
}

export function ownerOf(caller: {
  readonly kind: string
  readonly keyId: string | undefined
  readonly teamId: string | undefined
  readonly organizationId: string | undefined
  readonly userId: string | undefined
}): Owner {
  return {
    keyId: caller.keyId ?? caller.kind,
    teamId: caller.teamId ?? null,
    organizationId: caller.organizationId ?? null,
    userId: caller.userId ?? null,
  }
}

/** That a row belongs to the owner. */
export function ownedBy(owner: Owner, table: 'gateway_file' | 'gateway_batch'): RawBuilder<boolean> {
  const sameKey = sql<boolean>`${sql.ref(`${table}.key_id`)} = ${owner.keyId}`
  if (owner.teamId === null) return sameKey
  return sql`(${sameKey} OR ${sql.ref(`${table}.team_id`)} = ${owner.teamId})`
}

/** The columns of an owner. */
export const ownerColumns = (owner: Owner) => ({
  key_id: owner.keyId,
  team_id: owner.teamId,
  organization_id: owner.organizationId,
  user_id: owner.userId,
})
