import { type RawBuilder, sql } from 'kysely'

/** The characters that ids may have and `encodeURIComponent` does not leave as they are. */
const ENCODED = { '@': '%40', '+': '%2B', ':': '%3A', '|': '%7C' }

/** Seconds of a unit that is always as long. */
const UNIT_SECONDS = sql`CASE duration.unit WHEN 's' THEN 1 WHEN 'm' THEN 60 WHEN 'h' THEN 3600 WHEN 'd' THEN 86400 ELSE 604800 END`
const UNIT_MONTHS = sql`CASE duration.unit WHEN 'mo' THEN 1 ELSE 12 END`

const BEGUN = sql`record.budget_started_at AT TIME ZONE 'UTC'`
const PERIOD = sql`latest.period::timestamptz AT TIME ZONE 'UTC'`
const monthsOf = (time: RawBuilder<unknown>) =>
  sql`(12 * extract(year FROM ${time}) + extract(month FROM ${time}))::int`

/** When the latest period with spend ends, as `budgetPeriod` has it. */
const ENDS = sql`CASE WHEN duration.unit IN ('mo', 'y')
  THEN (${BEGUN} + make_interval(months => ${monthsOf(PERIOD)} - ${monthsOf(BEGUN)} + duration.count * ${UNIT_MONTHS}))
    AT TIME ZONE 'UTC'
  ELSE latest.period::timestamptz + make_interval(secs => duration.count::float8 * ${UNIT_SECONDS}) END`

/** Joins to the row `record` what it has spent in the period of its budget that is now: `spent.nano`, 0 if nothing. Of a
 *  whole page `BudgetRecords.spent` tells it; this is for what goes by the spend of all records. */
export function joinedSpend(level: string, id: string): RawBuilder<unknown> {
  const encoded = Object.entries(ENCODED).reduce<RawBuilder<unknown>>(
    (text, [plain, code]) => sql`replace(${text}, ${sql.lit(plain)}, ${sql.lit(code)})`,
    sql.id('record', id),
  )
  const subject = sql`${sql.lit(`${level}:`)} || ${encoded} || coalesce('@' || record.budget_duration, '')`
  return sql`
    CROSS JOIN LATERAL (
      SELECT substring(record.budget_duration FROM '^[0-9]+')::int AS count,
        substring(record.budget_duration FROM '[a-z]+$') AS unit
    ) AS duration
    CROSS JOIN LATERAL (
      SELECT coalesce((
        SELECT CASE WHEN latest.period = '' OR ${ENDS} > now() THEN latest.spent_nano ELSE 0 END
        FROM (
          SELECT period, spent_nano FROM gateway_budget WHERE subject = ${subject} ORDER BY period DESC LIMIT 1
        ) AS latest
      ), 0) AS nano
      -- Without this the planner would look it up again for every mention.
      OFFSET 0
    ) AS spent`
}
