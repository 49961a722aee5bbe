import { utilizationInWords } from '../utilization.ts'
import { preferring, type Strategy } from './strategy.ts'

/** Random among those with room; those above 90 % of a limit come after them. */
export const rateLimitAware: Strategy = {
  name: 'rate-limit-aware',
  ...preferring('headroom'),
  because: utilizationInWords,
}
