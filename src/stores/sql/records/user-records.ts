import { type Selectable, sql } from 'kysely'
import type { Schema } from '../schema/schema.ts'
import type { Sql } from '../sql.ts'
import { SCOPE_COLUMNS, type ScopeRecords, scopeRecords, type Within } from './scope-records.ts'

export type UserRecord = Omit<Selectable<Schema['gateway_user']>, 'target_mode'>
export type UserRecords = ScopeRecords<UserRecord>

export function userRecords(database: Sql): UserRecords {
  return scopeRecords<UserRecord>(database, {
    table: 'gateway_user',
    id: 'user_id',
    scopeType: 'user',
    level: 'user',
    columns: ['user_id', 'user_email', 'user_name', 'user_role', ...SCOPE_COLUMNS],
    name: 'user_name',
    searched: ['user_id', 'user_email', 'user_name'],
    within: withinUser,
  })
}

/** A user is within reach through its memberships alone. */
export const withinUser: Within = ({ organizations, teams, wholeUsers }) => {
  const inside = sql<boolean>`(
    (membership.scope_type = 'team' AND (membership.scope_id = ${teams} OR team.organization_id = ${organizations}))
    OR (membership.scope_type = 'organization' AND membership.scope_id = ${organizations}))`
  const somewhere = sql<boolean>`EXISTS (SELECT FROM ${MEMBERSHIPS} AND ${inside})`
  if (!wholeUsers) return somewhere
  // Plain membership of the team's organization does not put a user beyond the team's reach.
  const aside = sql<boolean>`(membership.scope_type = 'organization' AND membership.role = 'org_member'
    AND membership.scope_id IN (SELECT organization_id FROM gateway_team WHERE team_id = ${teams}))`
  // A team outside of every organization is in none of them, which comparing says of NULL only so.
  return sql`(${somewhere} AND NOT EXISTS (
    SELECT FROM ${MEMBERSHIPS} AND ${inside} IS NOT TRUE AND NOT ${aside}))`
}

const MEMBERSHIPS = sql`gateway_membership AS membership LEFT JOIN gateway_team AS team
    ON membership.scope_type = 'team' AND team.team_id = membership.scope_id
  WHERE membership.user_id = record.user_id`
