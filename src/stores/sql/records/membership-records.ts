import { type RawBuilder, type Selectable, sql } from 'kysely'
import { batchOf, queries, rowsOf } from '../query.ts'
import type { Schema } from '../schema/schema.ts'
import type { Sql } from '../sql.ts'
import { NEXT_VERSION } from './scope-records.ts'

export type MembershipScope = Selectable<Schema['gateway_membership']>['scope_type']

/** A member of an organization or a team. */
export interface MembershipRecord {
  readonly user_id: string
  readonly role: string
  readonly user_email: string | null
  readonly user_name: string | null
  readonly created_at: string
}

/** A membership after a change, with the user's new version. */
export interface PutMembership {
  readonly record: MembershipRecord
  readonly before: { readonly role: string | null }
  readonly userVersion: string
}

export interface EndedMembership {
  readonly record: MembershipRecord
  readonly userVersion: string
  /** Teams of the organization that were left with it. */
  readonly teams: readonly string[]
  /** The member's own keys there, which were revoked. */
  readonly keys: readonly { readonly key_id: string; readonly key_hash: string; readonly version: number }[]
  /** Invitations of the member's to there, which nobody had accepted. */
  readonly invitations: readonly string[]
}

/** The members of one organization or team. Every change gives the user a new version, which updates their sessions. Only
 *  members whose roles are in `roles` are changed; for others the result is `above`. */
export interface MembershipRecords {
  /** By user, after the cursor. */
  page(scope: MembershipScope, id: string, page: { cursor: string; limit: number }): Promise<MembershipRecord[]>
  /** Adds a member or changes its role. undefined: there is no such organization or team. */
  put(
    scope: MembershipScope,
    id: string,
    member: { readonly user_id: string; readonly role: string },
    roles: readonly string[],
  ): Promise<PutMembership | 'above' | undefined>
  /** Ends the membership, for an organization also those in its teams, revokes the keys that the member owns there, and
   *  cancels the member's invitations to there. undefined: not a member. */
  remove(
    scope: MembershipScope,
    id: string,
    userId: string,
    roles: readonly string[],
  ): Promise<EndedMembership | 'above' | undefined>
}

const COLUMNS = sql`member.user_id, member.role, "user".user_email, "user".user_name, member.created_at`

/** The table of each scope. */
const PARENTS = {
  organization: { table: sql.table('gateway_organization'), id: sql.id('organization_id') },
  team: { table: sql.table('gateway_team'), id: sql.id('team_id') },
}

/** The lock that serialises changes of a user's memberships and of what they own through them. A statement sees the state
 *  at its beginning, so that the change is a statement of its own after the lock. */
export const turnOf = (userId: string): RawBuilder<unknown> =>
  sql`SELECT FROM gateway_user WHERE user_id = ${userId} FOR NO KEY UPDATE`

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
    async put(scope, id, { user_id, role }, roles) {
      const parent = PARENTS[scope]
      // The lock on the parent serialises adding members and removing the organization or team.
      const change = sql<MembershipRecord & { role_before: string | null; user_version: string; changed: boolean }>`
        WITH parent AS (SELECT ${parent.id} AS id FROM ${parent.table} WHERE ${parent.id} = ${id} FOR KEY SHARE),
        before AS (
          SELECT role FROM gateway_membership
          WHERE scope_type = ${scope} AND scope_id = ${id} AND user_id = ${user_id}
        ),
        member AS (
          INSERT INTO gateway_membership AS member (scope_type, scope_id, user_id, role)
          SELECT ${scope}, parent.id, ${user_id}, ${role} FROM parent
          ON CONFLICT (scope_type, scope_id, user_id) DO UPDATE SET role = excluded.role
            WHERE member.role = ANY(${roles}::text[])
          RETURNING *
        ),
        "user" AS (
          UPDATE gateway_user AS "user" SET version = ${NEXT_VERSION} FROM member
          WHERE "user".user_id = member.user_id RETURNING "user".*
        )
        SELECT ${COLUMNS}, before.role AS role_before, "user".version AS user_version,
          member.user_id IS NOT NULL AS changed
        FROM parent LEFT JOIN member ON true LEFT JOIN "user" USING (user_id) LEFT JOIN before ON true`
      const [, [row]] = await batchOf(database, [turnOf(user_id), change])
      if (!row) return undefined
      const { role_before, user_version, changed, ...record } = row
      return changed ? { record, before: { role: role_before }, userVersion: user_version } : 'above'
    },
    async remove(scope, id, userId, roles) {
      const left = scope === 'team' ? sql`key.team_id = ${id}` : sql`key.organization_id = ${id}`
      const invited =
        scope === 'team'
          ? sql`invitation.team_id = ${id}`
          : sql`(invitation.organization_id = ${id}
              OR invitation.team_id IN (SELECT team_id FROM gateway_team WHERE organization_id = ${id}))`
      const removal = sql<
        MembershipRecord & Omit<EndedMembership, 'record' | 'userVersion'> & { user_version: string; ended: boolean }
      >`
        WITH found AS (
          SELECT user_id FROM gateway_membership
          WHERE scope_type = ${scope} AND scope_id = ${id} AND user_id = ${userId}
        ),
        member AS (
          DELETE FROM gateway_membership
          WHERE scope_type = ${scope} AND scope_id = ${id} AND user_id = ${userId} AND role = ANY(${roles}::text[])
          RETURNING *
        ),
        team AS (
          DELETE FROM gateway_membership AS within USING gateway_team AS team, member
          WHERE member.scope_type = 'organization' AND team.organization_id = member.scope_id
            AND within.scope_type = 'team' AND within.scope_id = team.team_id AND within.user_id = member.user_id
          RETURNING within.scope_id
        ),
        "user" AS (
          UPDATE gateway_user AS "user" SET version = ${NEXT_VERSION} FROM member
          WHERE "user".user_id = member.user_id RETURNING "user".*
        ),
        revoked AS (
          UPDATE gateway_key AS key SET revoked_at = now(), version = ${NEXT_VERSION}, updated_at = now()
          FROM member, gateway_account AS account
          WHERE account.user_id = member.user_id AND key.owner_account_id = account.account_id AND ${left}
            AND key.revoked_at IS NULL
          RETURNING key.key_id, key.key_hash, key.version
        ),
        uninvited AS (
          UPDATE gateway_invitation AS invitation SET state = 'cancelled', updated_at = now()
          FROM member, gateway_account AS account
          WHERE account.user_id = member.user_id AND invitation.email_key = account.email_key
            AND invitation.state = 'pending' AND ${invited}
          RETURNING invitation.invitation_id
        )
        SELECT ${COLUMNS}, "user".version AS user_version, member.user_id IS NOT NULL AS ended,
          (SELECT coalesce(json_agg(scope_id ORDER BY scope_id), '[]') FROM team) AS teams,
          (SELECT coalesce(json_agg(revoked ORDER BY key_id), '[]') FROM revoked) AS keys,
          (SELECT coalesce(json_agg(invitation_id ORDER BY invitation_id), '[]') FROM uninvited) AS invitations
        FROM found LEFT JOIN member ON true LEFT JOIN "user" ON "user".user_id = member.user_id`
      const [, [row]] = await batchOf(database, [turnOf(userId), removal])
      if (!row) return undefined
      const { user_version, ended, teams, keys, invitations, ...record } = row
      return ended ? { record, userVersion: user_version, teams, keys, invitations } : 'above'
    },
  }
}
