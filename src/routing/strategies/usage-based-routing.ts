import { describeUtilization } from '../describe-utilization.ts'
import { preferring, type Strategy } from './strategy.ts'

/** Lowest current utilization of the tightest per-minute limit. */
export const usageBasedRouting: Strategy = {
  name: 'usage-based-routing',
  ...preferring('utilization'),
  because: describeUtilization,
}
