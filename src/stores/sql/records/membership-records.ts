import { type Selectable, sql } from 'kysely'
import { queries, rowsOf } from '../query.ts'
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

const COLUMNS = sql`member.user_id, member.role, "user".user_email, "user".user_name, member.created_at`

/** Where the organizations and teams stand. */
const PARENTS = {
  organization: { table: sql.table('gateway_organization'), id: sql.id('organization_id') },
  team: { table: sql.table('gateway_team'), id: sql.id('team_id') },
}

export function membershipRecords(database: Sql): MembershipRecords {
  return {
    page: (scope, id, { cursor, limit }) =>
      rowsOf(
        database,
        queries
          .selectFrom('gateway_membership as member')
          .innerJoin('gateway_user as user', 'user.user_id', 'member.user_id')
          .select(['member.user_id', 'member.role', 'user.user_email', 'user.user_name', 'member.created_at'])
          .where('member.scope_type', '=', scope)
          .where('member.scope_id', '=', id)
          .where('member.user_id', '>', cursor)
          .orderBy('member.user_id')
          .limit(limit),
      ),
    async put(scope, id, { user_id, role }) {
      const parent = PARENTS[scope]
      // The lock makes adding and removing the organization or team take turns.
      const [row] = await rowsOf(
        database,
        sql<MembershipRecord & { role_before: string | null }>`
          WITH parent AS (SELECT ${parent.id} AS id FROM ${parent.table} WHERE ${parent.id} = ${id} FOR KEY SHARE),
          before AS (
            SELECT role FROM gateway_membership
            WHERE scope_type = ${scope} AND scope_id = ${id} AND user_id = ${user_id}
          ),
          member AS (
            INSERT INTO gateway_membership (scope_type, scope_id, user_id, role)
            SELECT ${scope}, parent.id, ${user_id}, ${role} FROM parent
            ON CONFLICT (scope_type, scope_id, user_id) DO UPDATE SET role = excluded.role
            RETURNING *
          )
          SELECT ${COLUMNS}, before.role AS role_before
          FROM member LEFT JOIN gateway_user AS "user" USING (user_id) LEFT JOIN before ON true`,
      )
      if (!row) return undefined
      const { role_before, ...record } = row
      return { record, before: { role: role_before } }
    },
    async remove(scope, id, userId) {
      const [record] = await rowsOf(
        database,
        sql<MembershipRecord>`
          WITH member AS (
            DELETE FROM gateway_membership
            WHERE scope_type = ${scope} AND scope_id = ${id} AND user_id = ${userId} RETURNING *
          )
          SELECT ${COLUMNS} FROM member JOIN gateway_user AS "user" USING (user_id)`,
      )
      return record
    },
  }
}
