import { sql } from 'kysely'
import { isFilled } from '../backfill.ts'
import { rowsOf } from '../query.ts'
import type { Sql } from '../sql.ts'
import type { SpendDimension } from './spend-sums.ts'

/** How many of the most expensive values are ranked. */
export const RANKED_PLACES = 1000
/** Groupings within whose values keys and people are ranked too: many of these share a value. */
export const RANKED_WITHIN = ['model', 'provider', 'deployment', 'organization_id'] as const satisfies SpendDimension[]
/** Calls that are written later than this after the end of their day cause a new ranking of it. */
const LATE_MS = 15 * 60_000
const DAY_MS = 86_400_000

/** Ranks the keys and people of ended days by their costs, so that no write of a call has to. Any number of processes
 *  may do it at once, and each may end at any time. */
export interface EndedDays {
  /** The days whose calls are not all ranked, the newest first. */
  unranked(now: number): Promise<readonly string[]>
  rank(day: string): Promise<void>
}

export function endedDays(database: Sql): EndedDays {
  let filled = false
  return {
    async unranked(now) {
      filled ||= await isFilled(database, 'gateway_spend_total')
      if (!filled) return []
      const until = new Date(now - LATE_MS - DAY_MS).toISOString()
      const days = await rowsOf(
        database,
        sql<{ day: string }>`
          SELECT total.bucket AS day FROM gateway_spend_total AS total
          LEFT JOIN gateway_spend_ranking AS held
            ON held.dimension = total.dimension AND held.value = total.value AND held.ranked = 'user_id'
              AND held.day = total.bucket
          WHERE total.grain = 'day' AND total.dimension = 'all' AND total.bucket <= ${until}::timestamptz
            AND held.calls IS DISTINCT FROM total.calls
          ORDER BY total.bucket DESC`,
      )
      return days.map(({ day }) => day)
    },

    async rank(day) {
      await rowsOf(database, rankingOf(day))
    },
  }
}

const WITHIN = sql.join(RANKED_WITHIN.map((name) => sql`(${sql.lit(name)}, ${sql.id(name)})`))

/** One statement, so that a ranking and its number of calls agree. */
const rankingOf = (day: string) => sql`
  INSERT INTO gateway_spend_ranking (dimension, value, ranked, day, calls, ids, costs_nano)
  WITH call AS MATERIALIZED (
    SELECT key_id, user_id, ${sql.join(RANKED_WITHIN.map((name) => sql.id(name)))}, calls, cost_nano
    FROM gateway_spend_rollup WHERE grain = 'day' AND bucket = ${day}::timestamptz
  ), member AS (
    SELECT dimension, value, ranked, id, sum(calls) AS calls, sum(cost_nano)::bigint AS cost_nano
    FROM call CROSS JOIN LATERAL (VALUES ('all', ''), ${WITHIN}) AS within (dimension, value)
      CROSS JOIN LATERAL (VALUES ('key_id', key_id), ('user_id', user_id)) AS one (ranked, id)
    -- Of all calls, what keys have cost is there.
    WHERE dimension <> 'all' OR ranked <> 'key_id'
    GROUP BY dimension, value, ranked, id
  ), placed AS (
    SELECT *, row_number() OVER (PARTITION BY dimension, value, ranked ORDER BY cost_nano DESC) AS place FROM member
  )
  SELECT dimension, value, ranked, ${day}::timestamptz, sum(calls),
    coalesce(array_agg(id ORDER BY place) FILTER (WHERE place <= ${RANKED_PLACES}), '{}'),
    coalesce(array_agg(cost_nano ORDER BY place) FILTER (WHERE place <= ${RANKED_PLACES}), '{}')
  FROM placed GROUP BY dimension, value, ranked ORDER BY dimension, value, ranked
  ON CONFLICT (dimension, value, ranked, day)
    DO UPDATE SET calls = excluded.calls, ids = excluded.ids, costs_nano = excluded.costs_nano`
