import { describeUtilization } from '../describe-utilization.ts'
import { preferring, type Strategy } from './strategy.ts'

export const usageBasedRouting: Strategy = {
  name: 'usage-based-routing',
  meaning: 'Lowest utilization of the tightest per-minute limit.',
  ...preferring('utilization'),
  because: describeUtilization,
}
