import type { Answer } from '../../data/client.ts'

export type Health = Answer<'GET /health/deployments'>
export type Deployment = Health['deployments'][number]

const RANK = { cooling: 0, probing: 1, drained: 2, healthy: 3 } as const

const rankOf = ({ state, consecutive_failures: failures }: Deployment) => RANK[state] - (failures > 0 ? 0.5 : 0)

/** By model: that of the worst deployment first, and within a model the worst first; else by name. */
export function worstFirst(deployments: readonly Deployment[]): readonly Deployment[] {
  const worst = new Map<string, number>()
  for (const one of deployments) {
    worst.set(one.model_name, Math.min(worst.get(one.model_name) ?? RANK.healthy, rankOf(one)))
  }
  const ofModel = ({ model_name: name }: Deployment) => worst.get(name) ?? 0
  return deployments.toSorted(
    (a, b) =>
      ofModel(a) - ofModel(b) ||
      a.model_name.localeCompare(b.model_name) ||
      rankOf(a) - rankOf(b) ||
      a.deployment_id.localeCompare(b.deployment_id),
  )
}
