import type { Mode } from '../modes/mode.ts'
import type { CapacityUnit, DeploymentSignals } from '../stores/kv/deployment-signals.ts'
import type { Deployment } from './deployment.ts'
import type { Candidate } from './strategies/strategy.ts'

/** The tightest share of its per-minute limits that a deployment has used, for requests, tokens and the mode's unit. */
export function utilization(deployment: Deployment, signals: DeploymentSignals, { unit }: Mode): number {
  const share = Math.max(shareUsed(deployment, signals, 'requests'), shareUsed(deployment, signals, 'tokens'))
  return Math.max(share, shareUsed(deployment, signals, unit))
}

/** Of one limit: 0 where there is none. */
export function shareUsed({ limits }: Deployment, { used }: DeploymentSignals, unit: CapacityUnit): number {
  const limit = limits[unit]
  if (limit === undefined) return 0
  return limit === 0 ? Number.POSITIVE_INFINITY : (used[unit] ?? 0) / limit
}

export function utilizationInWords({ deployment, signals }: Candidate, mode: Mode): string {
  const share = utilization(deployment, signals, mode)
  return `${Number.isFinite(share) ? Math.round(100 * share) : 100} % of its tightest limit used`
}
