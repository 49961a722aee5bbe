import { newTimedId } from '../../../lib/ids.ts'
import type { BudgetSpent } from '../records/budget-records.ts'
import { type Sql, SqlError, UNIQUE_VIOLATION } from '../sql.ts'
import { CALL_FACTS } from './call-facts.ts'
import {
  addedSums,
  CHARGED,
  type ChargeRecord,
  chargedBy,
  chargeRecords,
  keyUse,
  type ShapeRecord,
  SUM_COLUMNS,
  shapeRecords,
} from './spend-additions.ts'
import type { Fold } from './spend-fold.ts'
import { SPEND_DIMENSIONS, SPEND_SUMS } from './spend-sums.ts'

/** Sums of calls without rows in the ledger. They never change, so that writing them is idempotent by their id. */
export interface FoldedCalls {
  readonly fold_id: string
  readonly shapes: readonly ShapeRecord[]
  readonly charges: readonly ChargeRecord[]
}

/** The columns of folded calls in addition to the hour: all dimensions of reports. */
export const FOLDED_COLUMNS = [...SPEND_DIMENSIONS, 'tags'] as const

/** The most bytes of one part, since a message of a queue is limited to 100 KB. */
const LONGEST_BYTES = 60_000

/** A fold in parts that fit into messages of a queue. */
export function foldedCalls(fold: Fold): FoldedCalls[] {
  const charges = [...inPieces(chargeRecords(fold), LONGEST_BYTES / 2)]
  const pieces = [...inPieces(shapeRecords(fold, FOLDED_COLUMNS), LONGEST_BYTES)].map((shapes) => ({
    fold_id: newTimedId('fold'),
    shapes,
    charges: charges.shift() ?? [],
  }))
  // There may be more parts of charges than of shapes.
  return [...pieces, ...charges.map((more) => ({ fold_id: newTimedId('fold'), shapes: [], charges: more }))]
}

function* inPieces<Item>(items: readonly Item[], longest: number): Generator<Item[]> {
  const encoder = new TextEncoder()
  let piece: Item[] = []
  let bytes = 0
  for (const item of items) {
    const own = encoder.encode(JSON.stringify(item)).length
    if (piece.length > 0 && bytes + own > longest) {
      yield piece
      piece = []
      bytes = 0
    }
    piece.push(item)
    bytes += own
  }
  if (piece.length > 0) yield piece
}

/** Adds folded calls to budgets and sums, one statement for each fold. A fold that was added before adds nothing. Resolves
 *  with what the charged budgets have spent now. */
export async function insertFolded(sql: Sql, folded: readonly FoldedCalls[]): Promise<readonly BudgetSpent[]> {
  const spent: BudgetSpent[] = []
  for (const { fold_id, shapes, charges } of folded) {
    try {
      const parameters = [JSON.stringify(shapes), JSON.stringify(charges), fold_id]
      spent.push(...(await chargedBy(sql, { sql: ADD, parameters })))
    } catch (error) {
      if (!(error instanceof SqlError) || error.code !== UNIQUE_VIOLATION) throw error
    }
  }
  return spent
}

const names = FOLDED_COLUMNS.join(', ')
const shapeColumns = [...FOLDED_COLUMNS.map((name) => `${name} ${CALL_FACTS[name].type}`), ...SUM_COLUMNS]

/** Static text: most of it is shared with the statement that adds rows to the ledger. */
const ADD = `
  WITH shape AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1::json) AS row (shape integer, hour timestamptz, ${shapeColumns.join(', ')})
  ), noted AS (
    INSERT INTO gateway_spend_fold (fold_id) VALUES ($3)
  ), added AS (
    INSERT INTO gateway_spend_folded (fold_id, shape, hour, ${names}, ${SPEND_SUMS.join(', ')})
    SELECT $3, shape, hour, ${names}, ${SPEND_SUMS.map((name) => `coalesce(sum_${name}, 0)`).join(', ')} FROM shape ORDER BY shape
    RETURNING shape
  ), ${keyUse('shape', 'hour')}, ${addedSums('$2')}
  ${CHARGED}`
