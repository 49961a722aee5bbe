import { type RawBuilder, sql } from 'kysely'

/** The characters that ids may have and `encodeURIComponent` does not leave as they are. */
export const ENCODED = { '@': '%40', '+': '%2B', ':': '%3A', '|': '%7C' }

const COUNT = sql`rtrim(record.budget_duration, 'abcdefghijklmnopqrstuvwxyz')::int`
/** The unit by its last letter: a regular expression would be most of the statement's cost. */
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

/** Whether the row `budget` is of the current period of the record's budget, and not of one from before the duration
 *  was changed to another and back. Names of periods have milliseconds. One CASE, so that the costly part is computed only
 *  for rows that meet the other conditions. */
const IS_NOW = sql`CASE WHEN budget.period = '' THEN true
  WHEN budget.period::timestamptz < date_trunc('milliseconds', record.budget_started_at) OR ${ENDS} <= now() THEN false
  ELSE NOT EXISTS (
  SELECT FROM gateway_budget AS newer WHERE newer.subject = budget.subject AND newer.period > budget.period) END`

/** Parts of a statement that reads the rows `record` with their spend in the current period of their budgets. They are
 *  for orders and filters over all records; `BudgetRecords.spent` reads the spend of one page. */
export interface CurrentSpend {
  /** Joins `budget` with `spent_nano`; records without spend are left out. */
  readonly joined: RawBuilder<unknown>
  /** The same spend in the words of an index, which yields it in order. */
  readonly indexed: RawBuilder<unknown>
  /** The condition that goes with the join. It is the most expensive one, and belongs last. */
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
