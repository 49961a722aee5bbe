import { utilization, utilizationInWords } from '../utilization.ts'
import type { Strategy } from './strategy.ts'

/** Lowest current utilization of the tightest per-minute limit. */
export const usageBasedRouting: Strategy = {
  name: 'usage-based-routing',
  rank: (deployment, _draw, { mode, signals }) => utilization(deployment, signals.of(deployment.id), mode),
  because: utilizationInWords,
}
