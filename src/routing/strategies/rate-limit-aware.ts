import { describeUtilization } from '../describe-utilization.ts'
import { preferring, type Strategy } from './strategy.ts'

/** Random among deployments below 90 % of their limits; the others come last. */
export const rateLimitAware: Strategy = {
  name: 'rate-limit-aware',
  ...preferring('headroom'),
  because: describeUtilization,
}
