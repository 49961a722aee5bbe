import { sql as expression } from 'kysely'
import { queries, rowsOf } from '../query.ts'
import type { BudgetSpent } from '../records/budget-records.ts'
import { type Sql, SqlError, type Statement, UNIQUE_VIOLATION } from '../sql.ts'
import { CALL_FACTS, FACT_NAMES } from './call-facts.ts'
import { addedSums, CHARGED, chargedBy, chargeRecords, keyUse, SUM_COLUMNS, shapeRecords } from './spend-additions.ts'
import { newFold, SHAPE_COLUMNS } from './spend-fold.ts'
import { type ChargedRow, readerOf, type SpendRow } from './spend-row.ts'

/** Adds calls to the ledger, to the sums and to the budgets that they are charged to, in one statement. A call that was
 *  added before adds nothing. Resolves with what the charged budgets have spent now. */
export async function insertSpend(sql: Sql, rows: readonly ChargedRow[]): Promise<readonly BudgetSpent[]> {
  let fresh = once(rows)
  while (fresh.length > 0) {
    try {
      return await chargedBy(sql, addition(fresh))
    } catch (error) {
      if (!(error instanceof SqlError) || error.code !== UNIQUE_VIOLATION) throw error
      // Nothing was added. The other writer of the call has committed, so that its row is visible here.
      const known = await knownOf(sql, fresh)
      if (known.size === 0) throw new SqlError('A call was in the ledger, and then it was not.', SERIALIZATION_FAILURE)
      fresh = fresh.filter(({ call_id }) => !known.has(call_id))
    }
  }
  return []
}

/** The last row of each call. */
function once(rows: readonly ChargedRow[]): readonly ChargedRow[] {
  const ids = new Set<string>()
  for (const { call_id } of rows) ids.add(call_id)
  return ids.size === rows.length ? rows : [...new Map(rows.map((row) => [row.call_id, row])).values()]
}

const SERIALIZATION_FAILURE = '40001'

async function knownOf(sql: Sql, rows: readonly SpendRow[]): Promise<ReadonlySet<string>> {
  const ids = rows.map(({ call_id }) => call_id)
  const among = expression<string>`ANY(${ids}::text[])`
  const known = queries
    .selectFrom('gateway_spend')
    .select('call_id')
    .where('call_id', '=', among)
    .union(queries.selectFrom('gateway_spend_past').select('call_id').where('call_id', '=', among))
  return new Set((await rowsOf(sql, known)).map(({ call_id }) => call_id))
}

const IN_SHAPE: ReadonlySet<string> = new Set(SHAPE_COLUMNS)

/** The columns that are measured for each call. */
const OWN_COLUMNS = FACT_NAMES.filter((name) => !IN_SHAPE.has(name))

function addition(rows: readonly ChargedRow[]): Statement {
  const fold = newFold()
  const shapeOf = rows.map(fold.add)
  const columns = OWN_COLUMNS.map((name) => rows.map(readerOf(name)))
  return {
    sql: ADD,
    repeated: 'at any size',
    parameters: [
      JSON.stringify(shapeRecords(fold, SHAPE_COLUMNS)),
      JSON.stringify(chargeRecords(fold)),
      shapeOf,
      ...columns,
      rows.map(({ detail }) => detail),
    ],
  }
}

const names = FACT_NAMES.join(', ')

const shapeColumns = [...SHAPE_COLUMNS.map((name) => `${name} ${CALL_FACTS[name].type}`), ...SUM_COLUMNS]

const ownArrays = OWN_COLUMNS.map((name, index) => `$${4 + index}::${CALL_FACTS[name].type}[]`)

const details = `$${4 + OWN_COLUMNS.length}::text[]`

/** From this age on retention may have removed the row of a call. Such a call is noted when it is added, so that a
 *  repeated delivery does not count its sums twice. */
export const LATE_HOURS = 24

/** Static text: built once, so that connections keep its plan and nothing is compiled for each batch. */
const ADD = `
  WITH shape AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1::json) AS row (shape integer, hour timestamptz, ${shapeColumns.join(', ')})
  ), added AS (
    INSERT INTO gateway_spend (${names}, detail)
    SELECT ${names}, detail::json
    FROM unnest($3::integer[], ${ownArrays.join(', ')}, ${details}) AS call (shape, ${OWN_COLUMNS.join(', ')}, detail)
      JOIN shape USING (shape)
    ORDER BY call_id
    RETURNING call_id, at, tags, key_id
  ), marked AS (
    INSERT INTO gateway_spend_tag (tag, at, call_id)
    SELECT tag, at, call_id FROM added CROSS JOIN unnest(tags) AS tag ORDER BY tag, at, call_id ON CONFLICT DO NOTHING
  ), noted AS (
    INSERT INTO gateway_spend_past (call_id)
    SELECT call_id FROM added WHERE at < now() - interval '${LATE_HOURS} hours' ORDER BY call_id
  ), ${keyUse('added', 'at')}, ${addedSums('$2')}
  ${CHARGED}`
