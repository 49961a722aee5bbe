import { fold, SHAPE_COLUMNS, type Shape } from './spend-fold.ts'
import { SPEND_DIMENSIONS, SPEND_FRACTIONS, SPEND_SUMS } from './spend-sums.ts'
import { type Sql, SqlError, type Statement } from './sql.ts'

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
  let fresh = [...new Map(rows.map((row) => [row.call_id, row])).values()]
  while (fresh.length > 0) {
    try {
      await sql.query(addition(fresh))
      return
    } catch (error) {
      if (!(error instanceof SqlError) || error.code !== UNIQUE_VIOLATION) throw error
      // Then nothing was added. Whoever was first with a call has committed, so that it can be told here.
      const known = await knownOf(sql, fresh)
      if (known.size === 0) throw new SqlError('A call was in the ledger, and then it was not.', SERIALIZATION_FAILURE)
      fresh = fresh.filter(({ call_id }) => !known.has(call_id))
    }
  }
}

const UNIQUE_VIOLATION = '23505'
const SERIALIZATION_FAILURE = '40001'

async function knownOf(sql: Sql, rows: readonly SpendRow[]): Promise<ReadonlySet<string>> {
  const found = await sql.query<{ call_id: string }>({
    sql: 'SELECT call_id FROM gateway_spend WHERE call_id = ANY($1::text[])',
    parameters: [rows.map(({ call_id }) => call_id)],
  })
  return new Set(found.rows.map(({ call_id }) => call_id))
}

const IN_SHAPE: ReadonlySet<string> = new Set(SHAPE_COLUMNS)
/** What was measured of each call alone. */
const OWN_COLUMNS = SPEND_COLUMNS.filter((name) => !IN_SHAPE.has(name))

function addition(rows: readonly ChargedRow[]): Statement {
  const { shapes, shapeOf, charges, totals, rollup, tagRollup } = fold(rows)
  const marks = rows.flatMap(({ call_id, at, tags }) => tags.map((tag) => ({ tag, at, call_id })))
  const tables = [shapes.map(shapeRow), charges, totals, rollup, ...(marks.length > 0 ? [tagRollup, marks] : [])]
  return {
    sql: marks.length > 0 ? ADD_TAGGED : ADD,
    repeated: true,
    parameters: [
      ...tables.slice(0, 4).map((table) => JSON.stringify(table)),
      shapeOf,
      ...OWN_COLUMNS.map((name) => rows.map((row) => row[name])),
      ...tables.slice(4).map((table) => JSON.stringify(table)),
    ],
  }
}

function shapeRow({ shape, example }: Shape) {
  return { shape, ...Object.fromEntries(SHAPE_COLUMNS.map((name) => [name, example[name]])) }
}

// Rows are taken in the order of their keys, so that writers that meet wait for each other and never in a circle.
const ADD = adding('')
const LAST = 5 + OWN_COLUMNS.length
const ADD_TAGGED = adding(`
  ), tagged AS (${growing('gateway_spend_tag_rollup', ['grain', 'bucket', 'tag', ...SPEND_DIMENSIONS], LAST + 1)}
  ), marked AS (
    INSERT INTO gateway_spend_tag (tag, at, call_id)
    SELECT * FROM json_to_recordset($${LAST + 2}::json) AS mark (tag text, at timestamptz, call_id text)
    ORDER BY tag, at, call_id ON CONFLICT DO NOTHING`)

function adding(tagParts: string): string {
  const names = SPEND_COLUMNS.join(', ')
  const shapeColumns = SHAPE_COLUMNS.map((name) => `${name} ${COLUMNS[name]}`).join(', ')
  const ownArrays = OWN_COLUMNS.map((name, index) => `$${6 + index}::${COLUMNS[name]}[]`).join(', ')
  return `
  WITH added AS (
    INSERT INTO gateway_spend (${names})
    SELECT ${names}
    FROM unnest($5::integer[], ${ownArrays}) AS call (shape, ${OWN_COLUMNS.join(', ')})
      JOIN json_to_recordset($1::json) AS shape (shape integer, ${shapeColumns}) USING (shape)
    ORDER BY call_id
    RETURNING 1
  ), charged AS (
    INSERT INTO gateway_budget (subject, period, spent_nano)
    SELECT * FROM json_to_recordset($2::json) AS charge (subject text, period text, spent_nano numeric)
    ORDER BY subject, period
    ON CONFLICT (subject, period) DO UPDATE SET spent_nano = gateway_budget.spent_nano + excluded.spent_nano
  ), total AS (${growing('gateway_spend_total', ['grain', 'bucket', 'dimension', 'value'], 3)}
  ), summed AS (${growing('gateway_spend_rollup', ['grain', 'bucket', ...SPEND_DIMENSIONS], 4)}${tagParts}
  )
  SELECT count(*) FROM added`
}

function growing(table: string, keyNames: readonly string[], parameter: number): string {
  const sums = Object.keys(SPEND_SUMS)
  const keys = keyNames.join(', ')
  const columns = [
    ...keyNames.map((name) => `${name} ${name === 'bucket' ? 'timestamptz' : 'text'}`),
    ...sums.map((name) => `${name} ${SPEND_FRACTIONS.has(name) ? 'double precision' : 'bigint'}`),
  ]
  return `
    INSERT INTO ${table} (${keys}, ${sums.join(', ')})
    SELECT * FROM json_to_recordset($${parameter}::json) AS added (${columns.join(', ')})
    ORDER BY ${keys}
    ON CONFLICT (${keys}) DO UPDATE SET ${sums.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(', ')}`
}
