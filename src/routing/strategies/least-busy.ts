import { sortedBy } from './sort.ts'
import type { Strategy } from './strategy.ts'

/** Fewest calls in flight. */
export const leastBusy: Strategy = {
  name: 'least-busy',
  order: (candidates, { random }) => sortedBy(candidates, random, ({ signals }) => signals.active),
  because: ({ signals }) => `${signals.active} calls in flight`,
}
