import { describeUtilization } from '../describe-utilization.ts'
import { preferring, type Strategy } from './strategy.ts'

export const rateLimitAware: Strategy = {
  name: 'rate-limit-aware',
  meaning: 'At random among those with room; those above 90 % of a limit after them.',
  ...preferring('headroom'),
  because: describeUtilization,
}
