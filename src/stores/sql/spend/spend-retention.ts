import { sql } from 'kysely'
import { isFilled } from '../backfill.ts'
import { rowsOf, statementOf } from '../query.ts'
import type { Sql } from '../sql.ts'
import { LATE_HOURS } from './spend-rows.ts'

/** Removes rows of the ledger. Sums and budgets keep what they counted. Any number of processes may do it at once. */
export interface SpendRetention {
  /** Removes the oldest rows beyond an age, so many at most; resolves with how many were removed. */
  removeCalls(days: number, limit: number): Promise<number>
  /** Forgets ids of removed calls that can no longer be delivered again; resolves with their number. */
  forgetIds(limit: number): Promise<number>
}

/** A row is removed an hour after its time, so that no statement that began before it counted as late adds it again. */
const SLACK_HOURS = 1
/** The longest time for which a queue keeps a message. */
const REMEMBERED_DAYS = 14

export function spendRetention(database: Sql): SpendRetention {
  let filled = false
  return {
    async removeCalls(days, limit) {
      // Until then the table of tags may get lines of rows that are removed meanwhile.
      filled ||= await isFilled(database, 'gateway_spend_tag')
      if (!filled) return 0
      const hours = Math.max(24 * days, LATE_HOURS) + SLACK_HOURS
      const [gone] = await rowsOf(
        database,
        sql<{ rows: number }>`
          WITH gone AS (
            DELETE FROM gateway_spend WHERE ctid = ANY(ARRAY(
              SELECT ctid FROM gateway_spend WHERE at < now() - make_interval(hours => ${hours})
              ORDER BY at LIMIT ${limit} FOR UPDATE SKIP LOCKED))
            RETURNING call_id, at, tags
          ), untagged AS (
            DELETE FROM gateway_spend_tag WHERE ctid = ANY(ARRAY(
              SELECT marked.ctid FROM gone CROSS JOIN unnest(tags) AS of (tag)
              CROSS JOIN LATERAL (
                SELECT ctid FROM gateway_spend_tag AS line
                WHERE line.tag = of.tag AND line.at = gone.at AND line.call_id = gone.call_id LIMIT 1) AS marked))
          ), noted AS (
            INSERT INTO gateway_spend_past (call_id) SELECT call_id FROM gone ORDER BY call_id
            ON CONFLICT (call_id) DO UPDATE SET noted_at = excluded.noted_at
          )
          SELECT count(*)::integer AS rows FROM gone`,
      )
      return gone?.rows ?? 0
    },

    async forgetIds(limit) {
      const forgotten = await database.query(
        statementOf(sql`
          DELETE FROM gateway_spend_past WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM gateway_spend_past WHERE noted_at < now() - make_interval(days => ${REMEMBERED_DAYS})
            ORDER BY noted_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))`),
      )
      return forgotten.affected
    },
  }
}
