import { utilization } from '../stores/kv/deployment-signals.ts'
import type { Deployment } from './deployment.ts'
import type { StrategyContext } from './strategies/strategy.ts'

export function describeUtilization({ id, limits }: Deployment, { mode: { unit }, signals }: StrategyContext): string {
  const share = utilization(signals.of(id), limits, unit)
  return `${Number.isFinite(share) ? Math.round(100 * share) : 100} % of its tightest limit used`
}
