import { GatewayError } from '../../lib/errors.ts'
import type { DeploymentSignals } from '../../stores/kv/deployment-signals.ts'
import { holdFallback } from '../admit/hold-fallback.ts'
import type { Attempt, Call } from '../call.ts'
import { allDeployments, type Plan } from '../plan/plan.ts'
import type { PipelineServices } from '../services.ts'
import { startAttempt } from './start-attempt.ts'

/** Probes one deployment early when no group of the call had one available: of the cooled ones, the one that recovers
 *  soonest. A single failure of an only deployment is thus no outage. The store allows it once in an outage; afterwards
 *  each cooldown ends with its regular probe. */
export async function earlyProbe(
  services: PipelineServices,
  call: Call,
): Promise<{ readonly plan: Plan; readonly started: Attempt } | undefined> {
  const now = services.clock.now()
  const [soonest] = call.plans
    .flatMap((plan) =>
      allDeployments(plan).map((deployment) => ({ plan, deployment, signals: services.signals.of(deployment.id) })),
    )
    .filter(({ signals }) => signals.cooledUntil > now && !signals.probing)
    .sort((a, b) => a.signals.cooledUntil - b.signals.cooledUntil)
  if (!soonest) return undefined
  const { plan, deployment } = soonest
  // In a large group the call may hold no money for this deployment yet.
  await holdFallback(services, call, plan, [deployment])
  const started = await startAttempt(services, call, plan, deployment, { early: true })
  if (!started) return undefined
  call.servedGroup = plan.group.name
  return { plan, started }
}

/** The failure of a call that no deployment could take, with the time to retry after. */
export function noneAvailable(services: PipelineServices, plans: readonly Plan[]): GatewayError {
  const name = plans[0]?.group.name
  const now = services.clock.now()
  const signals = plans.flatMap(allDeployments).map(({ id }) => services.signals.of(id))
  if (signals.length === 0) {
    return new GatewayError('no_healthy_deployment', `Every deployment of '${name}' is drained. Retry later.`, {
      retryAfterSeconds: 60,
    })
  }
  if (!signals.every(isUnwell)) {
    return new GatewayError('no_capacity', `Every deployment of '${name}' is at its limit. Retry later.`, {
      retryAfterSeconds: 60,
    })
  }
  const soonest = Math.min(...signals.map(({ cooledUntil }) => cooledUntil))
  return new GatewayError('no_healthy_deployment', `No deployment of '${name}' is healthy. Retry later.`, {
    retryAfterSeconds: Math.max(1, Math.ceil((soonest - now) / 1000)),
  })
}

/** Cooled down, or being probed after a cooldown. */
export const isUnwell = ({ failures, cooledUntil }: DeploymentSignals) => failures > 0 && cooledUntil > 0
