import { insertSpend } from '../stores/sql/spend/spend-rows.ts'
import { factsOf } from './call-facts.ts'
import type { Topic } from './delivery/delivery.ts'
import type { CallFinished } from './events.ts'
import { foldedLedger, foldOfCalls } from './folded-ledger.ts'

/** Writes every model call to the ledger, and its cost to the budgets that it is charged to. */
export const ledger: Topic<CallFinished> = {
  name: 'ledger',
  write: (sql, calls) => insertSpend(sql, calls.map(factsOf)),
  folding: {
    topic: foldedLedger as Topic,
    begin() {
      const fold = foldOfCalls()
      return {
        get entries() {
          return fold.entries
        },
        add: (call) => fold.add(factsOf(call)),
        end: fold.end,
      }
    },
    alone(call) {
      const row = factsOf(call)
      const fold = foldOfCalls()
      fold.add(row)
      return { ...fold.end()[0], fold_id: row.call_id }
    },
  },
}
