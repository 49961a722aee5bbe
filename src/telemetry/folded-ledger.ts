import { newFold } from '../stores/sql/spend/spend-fold.ts'
import { FOLDED_COLUMNS, type FoldedCalls, foldedCalls, insertFolded } from '../stores/sql/spend/spend-folded.ts'
import type { ChargedRow } from '../stores/sql/spend/spend-row.ts'
import { SPEND_DIMENSIONS } from '../stores/sql/spend/spend-sums.ts'
import type { RecordFold, Topic } from './delivery/delivery.ts'

/** Writes sums of calls that have no rows in the ledger. */
export const foldedLedger: Topic<FoldedCalls> = { name: 'ledger_sums', write: insertFolded }

/** From this number of different shapes on, calls of new shapes are added up without their tags. */
const MOST_SHAPES = 10_000
const NO_DIMENSIONS = Object.fromEntries(SPEND_DIMENSIONS.map((name) => [name, '']))

/** Adds calls up by the dimensions of reports. Charges and totals stay exact for any number of shapes. From twice the
 *  limit on, calls of new shapes have no dimensions, such as key and model. */
export function foldOfCalls(mostShapes = MOST_SHAPES): RecordFold<ChargedRow> {
  const fold = newFold(FOLDED_COLUMNS)
  let entries = 0
  function shapeOf(row: ChargedRow): ChargedRow {
    if (fold.shapes.length < mostShapes || fold.knows(row)) return row
    const untagged = { ...row, tags: [] }
    return fold.shapes.length < 2 * mostShapes || fold.knows(untagged) ? untagged : { ...untagged, ...NO_DIMENSIONS }
  }
  return {
    get entries() {
      return entries
    },
    add(row) {
      fold.add(shapeOf(row))
      entries += 1
    },
    end: () => foldedCalls(fold),
  }
}
