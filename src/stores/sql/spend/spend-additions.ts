import type { BudgetSpent } from '../records/budget-records.ts'
import { ENCODED } from '../scopes/current-spend.ts'
import type { Sql, Statement } from '../sql.ts'
import { type Fold, printed, type Sum } from './spend-fold.ts'
import type { SpendRow } from './spend-row.ts'
import { SERVED_DIMENSIONS, SPEND_DIMENSIONS, SPEND_FRACTIONS, SPEND_SUMS } from './spend-sums.ts'

/** The sums of a shape as columns of a record. */
export const SUM_COLUMNS = SPEND_SUMS.map(
  (name) => `sum_${name} ${SPEND_FRACTIONS.has(name) ? 'double precision' : 'bigint'}`,
)

const SUM_NAMES = SPEND_SUMS.map((name) => `sum_${name}`)

/** A shape of calls with its sums, as a record for json_to_recordset. */
export type ShapeRecord = Readonly<Record<string, unknown>>

/** The amount that a budget is charged in a period. */
export interface ChargeRecord {
  readonly subject: string
  readonly period: string
  /** Missing where the period has an end, and in what older builds left. */
  readonly since?: string | undefined
  readonly spent_nano: number | string
}

/** The shapes of a fold with the given columns. */
export function shapeRecords({ shapes }: Fold, columns: readonly (keyof SpendRow)[]): ShapeRecord[] {
  return shapes.map(({ shape, example, hour, sums }) => {
    const record: Record<string, unknown> = { shape, hour: `${hour}:00Z` }
    for (const name of columns) record[name] = example[name]
    for (let index = 0; index < sums.length; index++) {
      const sum = sums[index] as Sum
      // Most are 0, as which counts what is left out.
      if (sum) record[SUM_NAMES[index] as string] = printed(sum)
    }
    return record
  })
}

export function chargeRecords({ charges }: Fold): ChargeRecord[] {
  return charges.map(({ subject, period, since, nano }) => ({ subject, period, since, spent_nano: printed(nano) }))
}

/** Runs a statement with `addedSums`; resolves with what the charged budgets have spent afterwards. */
export async function chargedBy(sql: Sql, statement: Statement): Promise<BudgetSpent[]> {
  const { rows } = await sql.query<ChargeRecord>(statement)
  return rows.map(({ subject, period, spent_nano }) => ({ subject, period, spentNano: Number(spent_nano) }))
}

/** The tables of sums, in the order in which their rows are locked. */
const SUMMED = ['ranked', 'tagged', 'served', 'summed', 'total']

/** The end of such a statement. It reads the parts in the order in which builds of every version lock their rows: calls,
 *  sums, budgets. Parts that nothing reads follow, the last of the text first. Two orders at once would be deadlocks. */
export const CHARGED = `SELECT subject, period, spent_nano FROM charged
  WHERE ${['added', ...SUMMED].map((part) => `(SELECT count(*) FROM ${part})`).join(' + ')} >= 0`

/** A part of a statement that notes when the keys of calls were last used. To a minute, so that a busy key is not written
 *  with every call. */
export const keyUse = (calls: string, time: string) => `used AS (
    INSERT INTO gateway_key_use (key_id, last_used_at)
    SELECT key_id, max(${time}) FROM ${calls} WHERE key_id <> '' GROUP BY key_id ORDER BY key_id
    ON CONFLICT (key_id) DO UPDATE SET last_used_at = excluded.last_used_at
    WHERE gateway_key_use.last_used_at < excluded.last_used_at - interval '1 minute'
  )`

/** Every dimension of a shape with its value. */
const DIMENSION_VALUES = `
    SELECT * FROM (VALUES ${["('all', '')", ...SPEND_DIMENSIONS.map((name) => `('${name}', ${name})`)].join(', ')})
      AS one (dimension, value)
    UNION ALL SELECT 'tag', tag FROM unnest(tags) AS tag`

const dimensions = SPEND_DIMENSIONS.join(', ')

/** The id of the record that a charge is to. */
const CHARGED_ID = Object.entries(ENCODED).reduce(
  (id, [plain, code]) => `replace(${id}, '${code}', '${plain}')`,
  `substring(subject from '^[a-z]+:([^|@]*)')`,
)

/** Whether a charge is to a period that is over: another has begun since, of the same record or of one that was made under
 *  its id. */
const IS_OVER = `since IS NOT NULL AND CASE split_part(subject, ':', 1) ${Object.entries({
  key: 'key',
  user: 'user',
  team: 'team',
  org: 'organization',
})
  .map(
    ([level, name]) => `WHEN '${level}' THEN EXISTS (SELECT FROM gateway_${name} AS record
      WHERE record.${name}_id = ${CHARGED_ID}
        AND date_trunc('milliseconds', record.budget_started_at) > since)`,
  )
  .join(' ')} ELSE false END`

/** Parts of a statement that add `shape` (with `hour`, the dimensions, `tags` and the sums) to every table of sums, and
 *  the parameter `charges` to the budgets. Rows of a table are locked in the order of their keys. */
export const addedSums = (charges: string) => `charged AS (
    INSERT INTO gateway_budget (subject, period, spent_nano)
    SELECT subject, period, sum(spent_nano)
    FROM json_to_recordset(${charges}::json) AS charge (subject text, period text, since timestamptz, spent_nano numeric)
    WHERE NOT (${IS_OVER})
    GROUP BY subject, period ORDER BY subject, period
    ON CONFLICT (subject, period) DO UPDATE SET spent_nano = gateway_budget.spent_nano + excluded.spent_nano
    RETURNING subject, period, spent_nano
  ), total AS (${rollup('gateway_spend_total', 'dimension, value', `shape CROSS JOIN LATERAL (${DIMENSION_VALUES}) AS of`)}
  ), summed AS (${rollup('gateway_spend_rollup', dimensions, 'shape')}
  ), served AS (${rollup('gateway_spend_served', SERVED_DIMENSIONS.join(', '), 'shape')}
  ), tagged AS (${rollup('gateway_spend_tag_rollup', `tag, ${dimensions}`, 'shape CROSS JOIN unnest(tags) AS tag')}
  ), ranked AS (
    INSERT INTO gateway_spend_key_day (day, key_id, cost_nano)
    SELECT date_trunc('day', hour, 'UTC') AS day, key_id, sum(sum_cost_nano)
    FROM shape WHERE sum_cost_nano > 0 GROUP BY day, key_id ORDER BY day, key_id
    ON CONFLICT (day, key_id) DO UPDATE SET cost_nano = gateway_spend_key_day.cost_nano + excluded.cost_nano
    RETURNING 1
  )`

function rollup(table: string, keys: string, source: string): string {
  const added = SPEND_SUMS.map((name) => `coalesce(sum(sum_${name}), 0)`)
  return `
    INSERT INTO ${table} (grain, bucket, ${keys}, ${SPEND_SUMS.join(', ')})
    SELECT grain, date_trunc(grain, hour, 'UTC') AS bucket, ${keys}, ${added.join(', ')}
    FROM ${source} CROSS JOIN (VALUES ('hour'), ('day')) AS each (grain)
    GROUP BY grain, bucket, ${keys} ORDER BY grain, bucket, ${keys}
    ON CONFLICT (grain, bucket, ${keys}) DO UPDATE SET ${grown(table)}
    RETURNING 1`
}

/** Adds the new sums to an existing row. */
function grown(table: string): string {
  return SPEND_SUMS.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(', ')
}
