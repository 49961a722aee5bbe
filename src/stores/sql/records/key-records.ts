import { type Selectable, sql } from 'kysely'
import { rowsOf } from '../query.ts'
import type { Schema } from '../schema/schema.ts'
import type { Sql } from '../sql.ts'
import type { Reach } from './reach.ts'
import {
  type Changed,
  present,
  reachable,
  SCOPE_COLUMNS,
  type ScopeRecords,
  scopeRecords,
  type ValuesOf,
} from './scope-records.ts'
import { stored } from './stored.ts'
import { withinTeam } from './team-records.ts'

export type KeyRecord = Omit<Selectable<Schema['gateway_key']>, 'target_mode'>

export interface KeyRecords extends ScopeRecords<KeyRecord> {
  /** In a team that is within the reach, and then in that team's organization. undefined: the team is not there, or it
   *  is of another organization than the one that the values name. */
  createIn(reach: Reach, values: ValuesOf<KeyRecord>): Promise<KeyRecord | undefined>
  /** Ends the key for good. The moment of its first end stays. */
  revoke(id: string, reach: Reach): Promise<Changed<KeyRecord> | undefined>
  /** undefined: there is no such key, or it was revoked. */
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
  'expires_at',
  'revoked_at',
  ...SCOPE_COLUMNS,
] as const

export function keyRecords(database: Sql): KeyRecords {
  const records = scopeRecords<KeyRecord>(database, {
    table: 'gateway_key',
    id: 'key_id',
    scopeType: 'api_key',
    level: 'key',
    columns: COLUMNS,
    searched: ['key_id', 'key_name'],
    within: withinTeam,
  })
  return {
    ...records,
    async createIn(reach, { team_id: team = null, organization_id: organization = null, ...values }) {
      const given = present(values)
      const [created] = await rowsOf(
        database,
        sql<KeyRecord>`
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
          RETURNING ${sql.join(COLUMNS.map((column) => sql.id(column)))}`,
      )
      return created
    },
    revoke: (id, reach) => records.change(id, reach, { revoked_at: sql`coalesce(record.revoked_at, now())` }),
    regenerate: (id, reach, hash) => records.change(id, reach, { key_hash: hash }, { revoked_at: null }),
  }
}
