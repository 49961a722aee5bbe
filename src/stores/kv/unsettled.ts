import { isContent } from './keys.ts'
import type { Settlement } from './shared-store.ts'

const MOST_SETTLEMENTS = 1000

/** The settlements that the shared store missed while it was away. The oldest are dropped beyond a bound: the database has
 *  the exact spend. */
export interface Unsettled {
  add(outcome: Settlement): void
  take(): Settlement | undefined
}

export function createUnsettled(): Unsettled {
  const settlements: Settlement[] = []
  return {
    add(outcome) {
      settlements.push(late(outcome))
      if (settlements.length > MOST_SETTLEMENTS) settlements.shift()
    },
    take: () => settlements.shift(),
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
