import type { Settlement } from './shared-store.ts'

const MOST_SETTLEMENTS = 1000

/** What calls left behind while the shared store was away. Bounded: the oldest is forgotten first, SQL has the truth. */
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

/** Money and counts stay true; how a deployment fared some minutes ago must neither cool it now nor clear it. */
const late = (outcome: Settlement): Settlement => ({
  ...outcome,
  outcomes: outcome.outcomes
    .filter(({ result }) => result !== 'committed')
    .map((ended) => ({ ...ended, result: 'neutral', used: {} })),
})
