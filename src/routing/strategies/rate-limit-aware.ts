import { utilization, utilizationInWords } from '../utilization.ts'
import type { Strategy } from './strategy.ts'

const NEAR_CEILING = 0.9

/** Random among those with room; those above 90 % of a limit come after them. */
export const rateLimitAware: Strategy = {
  name: 'rate-limit-aware',
  rank: (deployment, _draw, { mode, signals }) =>
    utilization(deployment, signals.of(deployment.id), mode) > NEAR_CEILING ? 1 : 0,
  because: utilizationInWords,
}
