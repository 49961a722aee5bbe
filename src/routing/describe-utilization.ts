import type { Mode } from '../modes/mode.ts'
import { utilization } from '../stores/kv/deployment-signals.ts'
import type { Candidate } from './strategies/strategy.ts'

export function describeUtilization({ deployment, signals }: Candidate, { unit }: Mode): string {
  const share = utilization(signals, deployment.limits, unit)
  return `${Number.isFinite(share) ? Math.round(100 * share) : 100} % of its tightest limit used`
}
