import { SPEND_DIMENSIONS, SPEND_SUMS } from './spend-sums.ts'
import type { Sql } from './sql.ts'

/** One model call as the ledger keeps it. Money is integer nano-dollars; null is a price that nobody knows. */
export interface SpendRow {
  readonly call_id: string
  readonly at: string
  readonly request_id: string
  readonly endpoint: string
  readonly mode: string
  readonly requested_model: string
  readonly model: string
  readonly deployment: string
  readonly provider: string
  readonly key_id: string
  readonly team_id: string
  readonly organization_id: string
  readonly user_id: string
  readonly tags: readonly string[]
  readonly streamed: boolean
  readonly ending: string
  readonly status: number
  readonly error_type: string
  readonly cache: string
  readonly attempts: number
  readonly rescued: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly reasoning_tokens: number
  readonly images: number
  readonly audio_seconds: number
  readonly characters: number
  readonly rerank_units: number
  readonly estimated: boolean
  readonly cost_nano: number | null
  readonly saved_nano: number
  readonly overhead_ms: number
  readonly first_token_ms: number | null
  readonly upstream_ms: number | null
  readonly total_ms: number
}

/** What its cost is added to in `gateway_budget`. */
export interface ChargedRow extends SpendRow {
  readonly charges: readonly { readonly subject: string; readonly period: string }[]
}

const COLUMNS = {
  call_id: 'text',
  at: 'timestamptz',
  request_id: 'text',
  endpoint: 'text',
  mode: 'text',
  requested_model: 'text',
  model: 'text',
  deployment: 'text',
  provider: 'text',
  key_id: 'text',
  team_id: 'text',
  organization_id: 'text',
  user_id: 'text',
  tags: 'text[]',
  streamed: 'boolean',
  ending: 'text',
  status: 'integer',
  error_type: 'text',
  cache: 'text',
  attempts: 'integer',
  rescued: 'integer',
  input_tokens: 'bigint',
  output_tokens: 'bigint',
  cached_input_tokens: 'bigint',
  cache_creation_input_tokens: 'bigint',
  reasoning_tokens: 'bigint',
  images: 'bigint',
  audio_seconds: 'double precision',
  characters: 'bigint',
  rerank_units: 'bigint',
  estimated: 'boolean',
  cost_nano: 'bigint',
  saved_nano: 'bigint',
  overhead_ms: 'double precision',
  first_token_ms: 'double precision',
  upstream_ms: 'double precision',
  total_ms: 'double precision',
} as const satisfies Record<keyof SpendRow, string>

/** The columns of the ledger, in their order. */
export const SPEND_COLUMNS = Object.keys(COLUMNS) as (keyof SpendRow)[]

/** Adds calls to the ledger, their costs to the budgets that they are charged to, and both to the sums, in one statement:
 *  a call that is there already adds nothing to any of them. */
export async function insertSpend(sql: Sql, rows: readonly ChargedRow[]): Promise<void> {
  await sql.query({ sql: INSERT, parameters: [JSON.stringify(rows)] })
}

const names = SPEND_COLUMNS.join(', ')
const typed = Object.entries(COLUMNS).map(([name, type]) => `${name} ${type}`)
const sums = Object.keys(SPEND_SUMS)
const dimensions = SPEND_DIMENSIONS.join(', ')

/** Each dimension of a call with its value there. */
export const DIMENSION_VALUES = `
    SELECT * FROM (VALUES ${["('all', '')", ...SPEND_DIMENSIONS.map((name) => `('${name}', ${name})`)].join(', ')})
      AS one (dimension, value)
    UNION ALL SELECT 'tag', tag FROM unnest(tags) AS tag`

// Rows are taken in the order of their keys, so that writers that meet wait for each other and never in a circle.
const INSERT = `
  WITH given AS (
    SELECT DISTINCT ON (call_id) * FROM json_to_recordset($1::json) AS row (${typed.join(', ')}, charges json)
    ORDER BY call_id
  ), fresh AS (
    INSERT INTO gateway_spend (${names}) SELECT ${names} FROM given ORDER BY call_id
    ON CONFLICT (call_id) DO NOTHING RETURNING *
  ), charged AS (
    INSERT INTO gateway_budget (subject, period, spent_nano)
    SELECT subject, period, sum(fresh.cost_nano)
    FROM fresh JOIN given USING (call_id), json_to_recordset(given.charges) AS charge (subject text, period text)
    WHERE fresh.cost_nano > 0
    GROUP BY subject, period ORDER BY subject, period
    ON CONFLICT (subject, period) DO UPDATE SET spent_nano = gateway_budget.spent_nano + excluded.spent_nano
  ), marked AS (
    INSERT INTO gateway_spend_tag (tag, at, call_id)
    SELECT tag, at, call_id FROM fresh CROSS JOIN unnest(tags) AS tag ORDER BY tag, at, call_id ON CONFLICT DO NOTHING
  ), total AS (${rollup('gateway_spend_total', 'dimension, value', `fresh CROSS JOIN LATERAL (${DIMENSION_VALUES}) AS of`)}
  ), summed AS (${rollup('gateway_spend_rollup', dimensions, 'fresh')}
  ), tagged AS (${rollup('gateway_spend_tag_rollup', `tag, ${dimensions}`, 'fresh CROSS JOIN unnest(tags) AS tag')}
  )
  SELECT count(*) FROM fresh`

function rollup(table: string, keys: string, source: string): string {
  const added = Object.values(SPEND_SUMS).map((term) => `sum(${term})`)
  const grown = sums.map((name) => `${name} = ${table}.${name} + excluded.${name}`)
  return `
    INSERT INTO ${table} (grain, bucket, ${keys}, ${sums.join(', ')})
    SELECT grain, date_trunc(grain, at, 'UTC') AS bucket, ${keys}, ${added.join(', ')}
    FROM ${source} CROSS JOIN (VALUES ('hour'), ('day')) AS each (grain)
    GROUP BY grain, bucket, ${keys} ORDER BY grain, bucket, ${keys}
    ON CONFLICT (grain, bucket, ${keys}) DO UPDATE SET ${grown.join(', ')}`
}
