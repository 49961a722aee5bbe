import { type RawBuilder, type Selectable, sql } from 'kysely'
import { batchOf, rowsOf } from '../query.ts'
import type { Schema } from '../schema/schema.ts'
import { currentSpend } from '../scopes/current-spend.ts'
import type { Sql } from '../sql.ts'
import { turnOf } from './membership-records.ts'
import type { Owner, Reach } from './reach.ts'
import {
  type Changed,
  present,
  reachable,
  SCOPE_COLUMNS,
  type ScopeRecords,
  scopeRecords,
  type ValuesOf,
  type Within,
  withoutSpend,
} from './scope-records.ts'
import { stored } from './stored.ts'
import { type TeamRecord, withinTeam } from './team-records.ts'

export type KeyRecord = Omit<Selectable<Schema['gateway_key']>, 'target_mode'>

/** The states of a key, as far as the key itself decides about its calls. */
export const KEY_STATES = ['active', 'over_budget', 'owner_disabled', 'expired', 'revoked'] as const
export type KeyState = (typeof KEY_STATES)[number]

interface KeyFilters {
  readonly state?: KeyState
  /** Keys that expire earlier. */
  readonly ends_before?: string
}

export interface KeyRecords extends ScopeRecords<KeyRecord> {
  /** Creates a key in a team within reach, and thereby in its organization. undefined: there is no such team, the
   *  values name another organization, or the id is taken. */
  createIn(reach: Reach, values: ValuesOf<KeyRecord>): Promise<KeyRecord | undefined>
  /** Creates a key in a team for an active person who has one of the roles there or in its organization, or administers
   *  the platform. The team must have the given version, and its limit of live keys a person holds however many are
   *  created at once. */
  createOwn(
    owner: Owner & { readonly roles: readonly string[] },
    team: Pick<TeamRecord, 'team_id' | 'version'>,
    values: ValuesOf<KeyRecord>,
  ): Promise<KeyRecord | undefined>
  /** The number of live keys that a person owns in a team. */
  countOwn(owner: Owner, teamId: string): Promise<number>
  /** Revokes the key irrevocably. A repeat keeps the first `revoked_at`. */
  revoke(id: string, reach: Reach): Promise<Changed<KeyRecord> | undefined>
  /** undefined: there is no such key, or it is revoked. */
  regenerate(id: string, reach: Reach, hash: string): Promise<Changed<KeyRecord> | undefined>
}

const COLUMNS = [
  'key_id',
  'key_hash',
  'key_name',
  'team_id',
  'organization_id',
  'user_id',
  'owner_account_id',
  'max_parallel_requests',
  'model_max_budget',
  'allowed_ips',
  'turn_off_message_logging',
  'no_log_allowed',
  'expires_at',
  'revoked_at',
  ...SCOPE_COLUMNS,
] as const

/** A key is within reach through its team, its organization or its owner. */
export const withinKey: Within = (reach) => {
  const { own } = reach
  return own ? sql`(${withinTeam(reach)} OR record.owner_account_id = ${own.accountId})` : withinTeam(reach)
}

export function keyRecords(database: Sql): KeyRecords {
  const records = scopeRecords<KeyRecord>(database, {
    table: 'gateway_key',
    id: 'key_id',
    scopeType: 'api_key',
    level: 'key',
    columns: COLUMNS,
    name: 'key_name',
    searched: ['key_id', 'key_name'],
    within: withinKey,
    holds: holdingOf,
    takesAlong: sql`uses AS (DELETE FROM gateway_key_use USING gone WHERE gateway_key_use.key_id = gone.key_id)`,
  })
  return {
    ...records,
    async createIn(reach, { team_id: team = null, organization_id: organization = null, ...values }) {
      const given = present(values)
      const [created] = await rowsOf(
        database,
        sql<KeyRecord>`
          WITH made AS (
            INSERT INTO gateway_key (${sql.join(['team_id', 'organization_id', ...given.map(([name]) => name)].map((name) => sql.id(name)))})
            SELECT ${sql.join([
              sql`record.team_id`,
              sql`coalesce(record.organization_id, ${organization})`,
              ...given.map(([, value]) => stored(value)),
            ])}
            FROM (SELECT) AS one
            LEFT JOIN gateway_team AS record ON record.team_id = ${team} AND ${reachable(reach, withinTeam)}
            WHERE ${team}::text IS NULL OR (record.team_id IS NOT NULL
              AND (${organization}::text IS NULL OR record.organization_id = ${organization}))
            ON CONFLICT (key_id) DO NOTHING RETURNING ${sql.join(COLUMNS.map((column) => sql.id(column)))}
          ),
          ${withoutSpend('made', 'key', values.key_id)}
          SELECT * FROM made`,
      )
      return created
    },
    async createOwn({ accountId, userId, roles }, team, values) {
      const given = present(values)
      const insertion = sql<KeyRecord>`
        INSERT INTO gateway_key (team_id, organization_id, owner_account_id, user_id,
          ${sql.join(given.map(([name]) => sql.id(name)))})
        SELECT team.team_id, team.organization_id, account.account_id, account.user_id,
          ${sql.join(given.map(([, value]) => stored(value)))}
        FROM gateway_team AS team, gateway_account AS account
        WHERE team.team_id = ${team.team_id} AND team.version = ${team.version}
          AND account.account_id = ${accountId} AND account.state = 'active'
          AND (account.platform_role = 'platform_admin' OR EXISTS (
            SELECT FROM gateway_membership AS member
            WHERE member.user_id = account.user_id AND member.role = ANY(${roles}::text[])
              AND ((member.scope_type = 'team' AND member.scope_id = team.team_id)
                OR (member.scope_type = 'organization' AND member.scope_id = team.organization_id))))
          AND (team.self_service_max_keys_per_user IS NULL
            OR (${ownedIn(accountId, team.team_id)}) < team.self_service_max_keys_per_user)
        RETURNING ${sql.join(COLUMNS.map((column) => sql.id(column)))}`
      const [, [created]] = await batchOf(database, [turnOf(userId), insertion])
      return created
    },
    async countOwn({ accountId }, teamId) {
      const [row] = await rowsOf(database, sql<{ owned: number }>`SELECT (${ownedIn(accountId, teamId)})::int AS owned`)
      return row?.owned ?? 0
    },
    revoke: (id, reach) => records.change(id, reach, { revoked_at: sql`coalesce(record.revoked_at, now())` }),
    regenerate: (id, reach, hash) => records.change(id, reach, { key_hash: hash }, { revoked_at: null }),
  }
}

const SPENT = currentSpend('key', 'key_id')
const BUDGET_NANO = sql`record.max_budget * 1000000000`
/** The condition for listing keys that have used up their budget, as one set. */
const OVER_BUDGET = sql`record.key_id = ANY(ARRAY(
  SELECT record.key_id FROM gateway_key AS record ${SPENT.joined}
  WHERE record.max_budget IS NOT NULL AND budget.spent_nano >= ${BUDGET_NANO} AND ${SPENT.holds}
  UNION ALL SELECT record.key_id FROM gateway_key AS record WHERE record.max_budget <= 0))`
/** The same condition, checked key by key, for listing all other keys. */
const WITHIN_BUDGET = sql`(record.max_budget IS NULL OR (record.max_budget > 0 AND NOT EXISTS (
  SELECT FROM (SELECT) AS one ${SPENT.joined} WHERE budget.spent_nano >= ${BUDGET_NANO} AND ${SPENT.holds})))`
const OWNER_DISABLED = sql`record.key_id = ANY(ARRAY(
  SELECT owned.key_id FROM gateway_key AS owned LEFT JOIN gateway_account AS account ON account.account_id = owned.owner_account_id
  WHERE owned.owner_account_id IS NOT NULL AND account.state IS DISTINCT FROM 'active'))`
const OWNER_ACTIVE = sql`(record.owner_account_id IS NULL OR EXISTS (
  SELECT FROM gateway_account AS account WHERE account.account_id = record.owner_account_id AND account.state = 'active'))`

/** By precedence: a key has the first state that applies. */
const STATES: Readonly<Record<Exclude<KeyState, 'active'>, State>> = {
  revoked: { holds: sql`record.revoked_at IS NOT NULL`, fails: sql`record.revoked_at IS NULL` },
  expired: {
    holds: sql`record.expires_at <= now()`,
    fails: sql`(record.expires_at IS NULL OR record.expires_at > now())`,
  },
  owner_disabled: { holds: OWNER_DISABLED, fails: OWNER_ACTIVE },
  over_budget: { holds: OVER_BUDGET, fails: WITHIN_BUDGET },
}

interface State {
  readonly holds: RawBuilder<unknown>
  readonly fails: RawBuilder<unknown>
}

function holdingOf({ state, ends_before: end }: KeyFilters): RawBuilder<unknown>[] {
  const conditions: RawBuilder<unknown>[] = []
  if (end !== undefined) conditions.push(sql`record.expires_at < ${end}::timestamptz`)
  if (state === undefined) return conditions
  for (const [name, { holds, fails }] of Object.entries(STATES)) {
    conditions.push(name === state ? holds : fails)
    if (name === state) break
  }
  return conditions
}

function ownedIn(accountId: string, teamId: string): RawBuilder<unknown> {
  return sql`
    SELECT count(*) FROM gateway_key WHERE owner_account_id = ${accountId} AND team_id = ${teamId}
      AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`
}
