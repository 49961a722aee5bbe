import { type RawBuilder, sql } from 'kysely'

/** The characters that ids may have and `encodeURIComponent` does not leave as they are. */
const ENCODED = { '@': '%40', '+': '%2B', ':': '%3A', '|': '%7C' }

const COUNT = sql`rtrim(record.budget_duration, 'abcdefghijklmnopqrstuvwxyz')::int`
/** The last letter, which tells units apart: a regular expression would cost most of such a statement. */
const UNIT = sql`right(record.budget_duration, 1)`

/** Seconds of a unit that is always as long. */
const UNIT_SECONDS = sql`CASE ${UNIT} WHEN 's' THEN 1 WHEN 'm' THEN 60 WHEN 'h' THEN 3600 WHEN 'd' THEN 86400 ELSE 604800 END`
const UNIT_MONTHS = sql`CASE ${UNIT} WHEN 'o' THEN 1 ELSE 12 END`

const BEGUN = sql`record.budget_started_at AT TIME ZONE 'UTC'`
const PERIOD = sql`budget.period::timestamptz AT TIME ZONE 'UTC'`
const monthsOf = (time: RawBuilder<unknown>) =>
  sql`(12 * extract(year FROM ${time}) + extract(month FROM ${time}))::int`

/** When the period of `budget` ends, as `budgetPeriod` has it. */
const ENDS = sql`CASE WHEN ${UNIT} IN ('o', 'y')
  THEN (${BEGUN} + make_interval(months => ${monthsOf(PERIOD)} - ${monthsOf(BEGUN)} + ${COUNT} * ${UNIT_MONTHS}))
    AT TIME ZONE 'UTC'
  ELSE budget.period::timestamptz + make_interval(secs => ${COUNT}::float8 * ${UNIT_SECONDS}) END`

/** The subject of the record's budget. Indexes of the schema have it in the same words. */
function subjectOf(level: string, id: string): RawBuilder<unknown> {
  const encoded = Object.entries(ENCODED).reduce<RawBuilder<unknown>>(
    (text, [plain, code]) => sql`replace(${text}, ${sql.lit(plain)}, ${sql.lit(code)})`,
    sql.id('record', id),
  )
  return sql`(${sql.lit(`${level}:`)} || ${encoded} || coalesce('@' || record.budget_duration, ''))`
}

/** The period of `budget`, a row of the record's subject, is now. One CASE, so that the rest is asked only of rows that all
 *  other conditions have let pass. */
const IS_NOW = sql`CASE WHEN budget.period = '' THEN true WHEN ${ENDS} <= now() THEN false ELSE NOT EXISTS (
  SELECT FROM gateway_budget AS newer WHERE newer.subject = budget.subject AND newer.period > budget.period) END`

/** Parts of a statement that reads the rows `record` with what they have spent in the period of their budget that is now.
 *  Of a whole page `BudgetRecords.spent` tells it; this is for what goes by the spend of all records. */
export interface CurrentSpend {
  /** Joins `budget` to those that have spent something: `budget.spent_nano`. Others are left out. */
  readonly joined: RawBuilder<unknown>
  /** The same in other words, by which an index gives them in order. */
  readonly indexed: RawBuilder<unknown>
  /** What holds for those then. It costs more than any other condition: it belongs behind them. */
  readonly holds: RawBuilder<unknown>
  /** The record has spent nothing. */
  readonly none: RawBuilder<unknown>
}

export function currentSpend(level: string, id: string): CurrentSpend {
  const subject = subjectOf(level, id)
  return {
    joined: sql`JOIN gateway_budget AS budget ON budget.subject = ${subject}`,
    indexed: sql`split_part(budget.subject, ':', 1) = ${sql.lit(level)} AND budget.spent_nano > 0`,
    holds: IS_NOW,
    none: sql`NOT EXISTS (
      SELECT FROM gateway_budget AS budget WHERE budget.subject = ${subject} AND budget.spent_nano > 0 AND ${IS_NOW})`,
  }
}
