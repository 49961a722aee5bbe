import type { Selectable } from 'kysely'
import type { Schema } from '../schema/schema.ts'
import type { Sql } from '../sql.ts'

export type MembershipScope = Selectable<Schema['gateway_membership']>['scope_type']

/** A member of an organization or a team. */
export interface MembershipRecord {
  readonly user_id: string
  readonly role: string
  readonly user_email: string | null
  readonly user_name: string | null
  readonly created_at: string
}

/** The members of one organization or team. */
export interface MembershipRecords {
  /** By user, after the cursor. */
  page(scope: MembershipScope, id: string, page: { cursor: string; limit: number }): Promise<MembershipRecord[]>
  /** Adds the member or changes the role of one. undefined: the organization or team is gone. */
  put(
    scope: MembershipScope,
    id: string,
    member: { readonly user_id: string; readonly role: string },
  ): Promise<{ readonly record: MembershipRecord; readonly before: { readonly role: string | null } } | undefined>
  /** undefined: not a member. */
  remove(scope: MembershipScope, id: string, userId: string): Promise<MembershipRecord | undefined>
}

const COLUMNS = `member.user_id, member.role, "user".user_email, "user".user_name, member.created_at`

export function membershipRecords(sql: Sql): MembershipRecords {
  const rows = async <Row>(text: string, ...parameters: unknown[]) =>
    (await sql.query<Row>({ sql: text, parameters })).rows
  return {
    page: (scope, id, { cursor, limit }) =>
      rows(
        `SELECT ${COLUMNS} FROM gateway_membership AS member JOIN gateway_user AS "user" USING (user_id)
         WHERE scope_type = $1 AND scope_id = $2 AND member.user_id > $3 ORDER BY member.user_id LIMIT $4`,
        scope,
        id,
        cursor,
        limit,
      ),
    async put(scope, id, { user_id, role }) {
      // The lock makes adding and removing the organization or team take turns.
      const [row] = await rows<MembershipRecord & { role_before: string | null }>(
        `WITH parent AS (SELECT ${scope}_id AS id FROM gateway_${scope} WHERE ${scope}_id = $1 FOR KEY SHARE),
         before AS (
           SELECT role FROM gateway_membership WHERE scope_type = $2 AND scope_id = $1 AND user_id = $3
         ),
         member AS (
           INSERT INTO gateway_membership (scope_type, scope_id, user_id, role) SELECT $2, parent.id, $3, $4 FROM parent
           ON CONFLICT (scope_type, scope_id, user_id) DO UPDATE SET role = excluded.role
           RETURNING *
         )
         SELECT ${COLUMNS}, before.role AS role_before
         FROM member LEFT JOIN gateway_user AS "user" USING (user_id) LEFT JOIN before ON true`,
        id,
        scope,
        user_id,
        role,
      )
      if (!row) return undefined
      const { role_before, ...record } = row
      return { record, before: { role: role_before } }
    },
    async remove(scope, id, userId) {
      const [record] = await rows<MembershipRecord>(
        `WITH member AS (
           DELETE FROM gateway_membership WHERE scope_type = $1 AND scope_id = $2 AND user_id = $3 RETURNING *
         )
         SELECT ${COLUMNS} FROM member JOIN gateway_user AS "user" USING (user_id)`,
        scope,
        id,
        userId,
      )
      return record
    },
  }
}
