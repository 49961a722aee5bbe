import { useEffect, useState } from 'preact/hooks'
import type { Answer } from '../data/client.ts'
import { State } from './badge.tsx'
import { ago } from './format.ts'

export type HealthOfDeployment = Answer<'GET /health/deployments'>['deployments'][number]

const WORDS = { healthy: 'healthy', cooling: 'cooling', probing: 'being probed', drained: 'drained' } as const

/** How a deployment is, in a word; while it cools with the time that is left. */
export function StateOf({ deployment }: { readonly deployment: HealthOfDeployment }) {
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
