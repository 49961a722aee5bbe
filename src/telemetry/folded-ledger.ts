import { newFold } from '../stores/sql/spend/spend-fold.ts'
import { FOLDED_COLUMNS, type FoldedCalls, foldedCalls, insertFolded } from '../stores/sql/spend/spend-folded.ts'
import type { ChargedRow } from '../stores/sql/spend/spend-row.ts'
import { SPEND_DIMENSIONS } from '../stores/sql/spend/spend-sums.ts'
import type { RecordFold, Topic } from './delivery.ts'

/** Writes sums of calls that have no rows in the ledger. */
export const foldedLedger: Topic<FoldedCalls> = { name: 'ledger_sums', write: insertFolded }

/** Where so many kinds of calls are told apart, new ones are added up without their tags. */
const MOST_SHAPES = 10_000
const NOWHERE = Object.fromEntries(SPEND_DIMENSIONS.map((name) => [name, '']))

/** Calls by what reports can ask for. Accounts pay exactly, and all calls together stay exact, however many kinds there
 *  are; where there are twice too many even without tags, new ones are of no key and no model. */
export function foldOfCalls(mostShapes = MOST_SHAPES): RecordFold<ChargedRow> {
  const fold = newFold(FOLDED_COLUMNS)
  let entries = 0
  function fitting(row: ChargedRow): ChargedRow {
    if (fold.shapes.length < mostShapes || fold.knows(row)) return row
    const untagged = { ...row, tags: [] }
    return fold.shapes.length < 2 * mostShapes || fold.knows(untagged) ? untagged : { ...untagged, ...NOWHERE }
  }
  return {
    get entries() {
      return entries
    },
    add(row) {
      fold.add(fitting(row))
      entries += 1
    },
    end: () => foldedCalls(fold),
  }
}
