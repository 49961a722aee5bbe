import { sortedBy, utilization, utilizationInWords } from './sort.ts'
import type { Strategy } from './strategy.ts'

const NEAR_CEILING = 0.9

/** Random among those with room; those above 90 % of a limit come after them. */
export const rateLimitAware: Strategy = {
  name: 'rate-limit-aware',
  order: (candidates, { random, mode }) =>
    sortedBy(candidates, random, (candidate) =>
      utilization(candidate, ['requests', 'tokens', mode.unit]) > NEAR_CEILING ? 1 : 0,
    ),
  because: utilizationInWords,
}
