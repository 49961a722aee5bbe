import { sortedBy, utilization, utilizationInWords } from './sort.ts'
import type { Strategy } from './strategy.ts'

/** Lowest current utilization of the tightest per-minute limit. */
export const usageBasedRouting: Strategy = {
  name: 'usage-based-routing',
  order: (candidates, { random, mode }) =>
    sortedBy(candidates, random, (candidate) => utilization(candidate, ['requests', 'tokens', mode.unit])),
  because: utilizationInWords,
}
