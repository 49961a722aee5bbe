import { type RawBuilder, sql } from 'kysely'
import { rowsOf } from '../query.ts'
import type { KeyRecord } from '../records/key-records.ts'
import type { OrganizationRecord } from '../records/organization-records.ts'
import type { TeamRecord } from '../records/team-records.ts'
import type { Sql } from '../sql.ts'

export interface KeyFacts {
  readonly team_name: string | null
  readonly organization_name: string | null
  /** The user's name, else their address. */
  readonly user_name: string | null
  readonly owner_email: string | null
  /** It has an owner whose account is not active. */
  readonly owner_disabled: boolean
  readonly last_used_at: string | null
  /** The limits of its team, organization and user, by scope and name: `team.rpm_limit`. */
  readonly wider_limits: Readonly<Record<string, string | number | null>>
}

export interface TeamFacts {
  readonly organization_name: string | null
  readonly member_count: number
  readonly key_count: number
}

export interface OrganizationFacts {
  readonly team_count: number
  readonly member_count: number
  readonly key_count: number
}

/** Reads what answers show of records in addition to their columns: names of references, and counts. One statement for a
 *  page, in the order of its records. */
export interface RecordFacts {
  ofKeys(
    keys: readonly Pick<KeyRecord, 'key_id' | 'team_id' | 'organization_id' | 'user_id' | 'owner_account_id'>[],
  ): Promise<KeyFacts[]>
  ofTeams(teams: readonly Pick<TeamRecord, 'team_id' | 'organization_id'>[]): Promise<TeamFacts[]>
  ofOrganizations(organizations: readonly Pick<OrganizationRecord, 'organization_id'>[]): Promise<OrganizationFacts[]>
}

export function recordFacts(database: Sql): RecordFacts {
  async function facts<Facts>(
    rows: readonly object[],
    columns: readonly string[],
    [select, joins]: readonly [RawBuilder<unknown>, RawBuilder<unknown>],
  ): Promise<Facts[]> {
    if (rows.length === 0) return []
    const lists = columns.map((name) => rows.map((row) => (row as Record<string, unknown>)[name] ?? null))
    const arrays = sql.join(lists.map((list) => sql`${list}::text[]`))
    const names = sql.join([...columns, 'place'].map((name) => sql.id(name)))
    return rowsOf(
      database,
      sql<Facts>`
        SELECT ${select} FROM unnest(${arrays}) WITH ORDINALITY AS record (${names}) ${joins} ORDER BY record.place`,
    )
  }
  return {
    ofKeys: (keys) => facts(keys, ['key_id', 'team_id', 'organization_id', 'user_id', 'owner_account_id'], OF_KEYS),
    ofTeams: (teams) => facts(teams, ['team_id', 'organization_id'], OF_TEAMS),
    ofOrganizations: (organizations) => facts(organizations, ['organization_id'], OF_ORGANIZATIONS),
  }
}

const LIMIT_NAMES = ['rpm_limit', 'tpm_limit', 'rph_limit', 'rpd_limit', 'tpd_limit'] as const
const WIDER_LIMITS = sql.join(
  ['team', 'organization', 'person'].flatMap((whose) =>
    LIMIT_NAMES.map((limit) => sql`${sql.lit(`${whose}.${limit}`)}, ${sql.ref(`${whose}.${limit}`)}`),
  ),
)

const OF_KEYS = [
  sql`team.team_name, organization.organization_name, coalesce(person.user_name, person.user_email) AS user_name,
    account.email AS owner_email,
    record.owner_account_id IS NOT NULL AND account.state IS DISTINCT FROM 'active' AS owner_disabled,
    used.last_used_at, jsonb_build_object(${WIDER_LIMITS}) AS wider_limits`,
  sql`LEFT JOIN gateway_team AS team ON team.team_id = record.team_id
    LEFT JOIN gateway_organization AS organization ON organization.organization_id = record.organization_id
    LEFT JOIN gateway_user AS person ON person.user_id = record.user_id
    LEFT JOIN gateway_account AS account ON account.account_id = record.owner_account_id
    LEFT JOIN gateway_key_use AS used ON used.key_id = record.key_id`,
] as const

const LIVE = sql`revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`
const membersOf = (type: 'organization' | 'team', id: RawBuilder<unknown>) =>
  sql`(SELECT count(*)::int FROM gateway_membership WHERE scope_type = ${sql.lit(type)} AND scope_id = ${id}) AS member_count`

const OF_TEAMS = [
  sql`organization.organization_name, ${membersOf('team', sql`record.team_id`)},
    (SELECT count(*)::int FROM gateway_key AS key WHERE key.team_id = record.team_id AND ${LIVE}) AS key_count`,
  sql`LEFT JOIN gateway_organization AS organization ON organization.organization_id = record.organization_id`,
] as const

const OF_ORGANIZATIONS = [
  sql`(SELECT count(*)::int FROM gateway_team AS team WHERE team.organization_id = record.organization_id) AS team_count,
    ${membersOf('organization', sql`record.organization_id`)},
    (SELECT count(*)::int FROM gateway_key AS key
      WHERE key.organization_id = record.organization_id AND ${LIVE}) AS key_count`,
  sql``,
] as const
