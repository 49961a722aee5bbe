import { type Sql, SqlError, type Statement } from '../sql.ts'
import { addedSums, chargeRecords, SUM_COLUMNS, shapeRecords } from './spend-additions.ts'
import { newFold, SHAPE_COLUMNS } from './spend-fold.ts'

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

/** What its cost, or a part of it, is added to in `gateway_budget`. */
export interface ChargedRow extends SpendRow {
  readonly charges: readonly {
    readonly subject: string
    readonly period: string
    readonly costNano?: number | undefined
  }[]
}

/** The type of each. */
export const SPEND_TYPES = {
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
export const SPEND_COLUMNS = Object.keys(SPEND_TYPES) as (keyof SpendRow)[]

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
  const fold = newFold()
  const shapeOf = rows.map(fold.add)
  const columns = OWN_COLUMNS.map((name) => rows.map((row) => row[name]))
  return {
    sql: ADD,
    repeated: true,
    parameters: [
      JSON.stringify(shapeRecords(fold, SHAPE_COLUMNS)),
      JSON.stringify(chargeRecords(fold)),
      shapeOf,
      ...columns,
    ],
  }
}

const names = SPEND_COLUMNS.join(', ')
const shapeColumns = [...SHAPE_COLUMNS.map((name) => `${name} ${SPEND_TYPES[name]}`), ...SUM_COLUMNS]
const ownArrays = OWN_COLUMNS.map((name, index) => `$${4 + index}::${SPEND_TYPES[name]}[]`)

const ADD = `
  WITH shape AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1::json) AS row (shape integer, hour timestamptz, ${shapeColumns.join(', ')})
  ), added AS (
    INSERT INTO gateway_spend (${names})
    SELECT ${names}
    FROM unnest($3::integer[], ${ownArrays.join(', ')}) AS call (shape, ${OWN_COLUMNS.join(', ')})
      JOIN shape USING (shape)
    ORDER BY call_id
    RETURNING call_id, at, tags
  ), marked AS (
    INSERT INTO gateway_spend_tag (tag, at, call_id)
    SELECT tag, at, call_id FROM added CROSS JOIN unnest(tags) AS tag ORDER BY tag, at, call_id ON CONFLICT DO NOTHING
  ), ${addedSums('$2')}
  SELECT count(*) FROM added`
