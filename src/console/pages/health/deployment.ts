import type { Answer } from '../../data/client.ts'

export type Health = Answer<'GET /health/deployments'>
export type Deployment = Health['deployments'][number]

const RANK = { cooling: 0, probing: 1, drained: 2, healthy: 3 } as const

/** The worst first; what fails before what is well; then by name. */
export function worstFirst(deployments: readonly Deployment[]): readonly Deployment[] {
  const rank = (one: Deployment) => RANK[one.state] - (one.consecutive_failures > 0 ? 0.5 : 0)
  return deployments.toSorted(
    (a, b) =>
      rank(a) - rank(b) || a.model_name.localeCompare(b.model_name) || a.deployment_id.localeCompare(b.deployment_id),
  )
}
