import { sql } from 'kysely'
import { rowsOf } from './query.ts'
import type { Sql } from './sql.ts'

/** A key that expires within a number of days. */
export interface ExpiringKey {
  readonly key_id: string
  readonly key_name: string | null
  readonly team_id: string | null
  readonly organization_id: string | null
  readonly user_id: string | null
  readonly expires_at: string
  readonly days: number
}

export interface KeyNoticeRecords {
  /** Notes and returns keys that expire within one of these numbers of days, the soonest first. Each key, expiry and
   *  number is returned once to all processes together; a key within several numbers of days has the smallest. */
  due(days: readonly number[], limit: number): Promise<ExpiringKey[]>
}

export function keyNoticeRecords(database: Sql): KeyNoticeRecords {
  return {
    due: (days, limit) =>
      rowsOf(
        database,
        sql<ExpiringKey>`
          WITH due AS (
            SELECT key.key_id, key.key_name, key.team_id, key.organization_id, key.user_id, key.expires_at, come.days
            FROM gateway_key AS key
            CROSS JOIN LATERAL (
              SELECT min(days) AS days FROM unnest(${[...days]}::integer[]) AS given (days)
              WHERE key.expires_at <= now() + make_interval(hours => 24 * days)
            ) AS come
            LEFT JOIN gateway_key_notice AS given ON given.key_id = key.key_id
            WHERE key.revoked_at IS NULL AND key.expires_at > now()
              AND key.expires_at <= now() + make_interval(hours => ${24 * Math.max(...days)})
              AND (given.key_id IS NULL OR given.expires_at <> key.expires_at OR given.days > come.days)
            ORDER BY key.expires_at, key.key_id LIMIT ${limit}
          ), noted AS (
            INSERT INTO gateway_key_notice AS notice (key_id, expires_at, days) SELECT key_id, expires_at, days FROM due
            ON CONFLICT (key_id) DO UPDATE SET expires_at = excluded.expires_at, days = excluded.days
            WHERE notice.expires_at <> excluded.expires_at OR notice.days > excluded.days
            RETURNING key_id
          )
          SELECT due.* FROM due JOIN noted ON noted.key_id = due.key_id ORDER BY due.expires_at, due.key_id`,
      ),
  }
}
