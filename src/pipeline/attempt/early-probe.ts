import { GatewayError } from '../../lib/errors.ts'
import type { DeploymentSignals } from '../../stores/kv/deployment-signals.ts'
import { holdFallback } from '../admit/hold-fallback.ts'
import type { Attempt, Call } from '../call.ts'
import { takingCalls } from '../plan/candidate.ts'
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
  const deployments = plans.flatMap(allDeployments)
  const signals = deployments.map(({ id }) => services.signals.of(id))
  if (deployments.length === 0) {
    return new GatewayError('no_healthy_deployment', `Every deployment of '${name}' is drained. Retry later.`, {
      retryAfterSeconds: 60,
    })
  }
  // One may have recovered since the call was refused there.
  const recovered = deployments.some(takingCalls(services))
  const soonest = recovered ? now : Math.min(...signals.filter(isUnwell).map(({ cooledUntil }) => cooledUntil))
  const retryAfterSeconds = Math.max(1, Math.ceil((soonest - now) / 1000))
  if (!recovered && !signals.every(isUnwell)) {
    return new GatewayError('no_capacity', `Every deployment of '${name}' is at its limit. Retry later.`, {
      retryAfterSeconds: Math.min(60, retryAfterSeconds),
    })
  }
  return new GatewayError('no_healthy_deployment', `No deployment of '${name}' is healthy. Retry later.`, {
    retryAfterSeconds,
  })
}

/** Cooled down, or being probed after a cooldown. */
export const isUnwell = ({ failures, cooledUntil }: DeploymentSignals) => failures > 0 && cooledUntil > 0
