import { useEffect, useState } from 'preact/hooks'
import type { Answer } from '../../data/client.ts'
import { State } from '../../design/badge.tsx'
import { ago } from '../../design/format.ts'

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

const WORDS = { healthy: 'healthy', cooling: 'cooling', probing: 'being probed', drained: 'drained' } as const

/** How a deployment is, in a word; while it cools with the time that is left. */
export function StateOf({ deployment }: { readonly deployment: Deployment }) {
  const { state, cooldown_until: until, consecutive_failures: failures } = deployment
  useSecond(until !== null)
  const tone = state === 'cooling' ? 'bad' : state === 'healthy' && failures === 0 ? 'quiet' : 'warn'
  const left = until !== null && Date.parse(until) > Date.now() ? ` (ends ${ago(until)})` : ''
  const failing = state === 'healthy' && failures > 0 ? `, ${failures} failed in a row` : ''
  return <State tone={tone}>{`${WORDS[state]}${left}${failing}`}</State>
}

/** Shows a countdown move. */
function useSecond(moving: boolean): void {
  const [, tick] = useState(0)
  useEffect(() => {
    if (!moving) return undefined
    const timer = setInterval(() => tick((count) => count + 1), 1000)
    return () => clearInterval(timer)
  }, [moving])
}
