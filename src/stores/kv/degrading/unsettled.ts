import { isContent } from '../keys.ts'
import type { Settlement } from '../shared-store.ts'

const MOST_SETTLEMENTS = 1000

/** The settlements that the shared store missed while it was away. The oldest are dropped beyond a bound: the store hears
 *  from the ledger what they have spent. */
export interface Unsettled {
  /** `sentAt`: the `performance.now()` at which it was sent in vain. The store may have read the spend of the call from the
   *  database since. */
  add(outcome: Settlement, sentAt?: number): void
  take(): Settlement | undefined
  readonly size: number
}

export function createUnsettled(): Unsettled {
  const missed: { readonly outcome: Settlement; readonly at: number }[] = []
  return {
    add(outcome, sentAt = performance.now()) {
      missed.push({ outcome: late(outcome), at: sentAt - (outcome.lateMs ?? 0) })
      if (missed.length > MOST_SETTLEMENTS) missed.shift()
    },
    get size() {
      return missed.length
    },
    take() {
      const next = missed.shift()
      // At least one: what is not late has 0.
      return next && { ...next.outcome, lateMs: Math.max(1, Math.round(performance.now() - next.at)) }
    },
  }
}

/** A settlement that arrives late: it still counts spend, but an old outcome neither cools a deployment nor clears it,
 *  and content is too large to be kept for later. */
const late = (outcome: Settlement): Settlement => ({
  ...outcome,
  lead: undefined,
  ...(outcome.values ? { values: outcome.values.filter(({ key }) => !isContent(key)) } : {}),
  outcomes: outcome.outcomes
    .filter(({ result }) => result !== 'committed')
    .map((ended) => ({ ...ended, result: 'neutral', used: {} })),
})
