import { GatewayError } from '../../lib/errors.ts'
import type { DeploymentSignals } from '../../stores/kv/deployment-signals.ts'
import { holdFallback } from '../admit/hold-fallback.ts'
import type { Attempt, Call } from '../call.ts'
import { everybody, type Plan } from '../plan/plan.ts'
import type { PipelineServices } from '../services.ts'
import { startAttempt } from './start-attempt.ts'

/** Nobody of a call's groups was free. Of those that are cooled the one that cools soonest may be probed before its time,
 *  so that one failure of an only deployment is no outage: once, then each cooldown ends with its one probe. */
export async function earlyProbe(
  services: PipelineServices,
  call: Call,
): Promise<{ readonly plan: Plan; readonly started: Attempt } | undefined> {
  const now = services.clock.now()
  const [soonest] = call.plans
    .flatMap((plan) =>
      everybody(plan).map((deployment) => ({ plan, deployment, signals: services.signals.of(deployment.id) })),
    )
    .filter(({ signals }) => signals.cooledUntil > now && !signals.probing)
    .sort((a, b) => a.signals.cooledUntil - b.signals.cooledUntil)
  if (!soonest) return undefined
  const { plan, deployment } = soonest
  // It may be one of a large group that nothing was held for.
  await holdFallback(services, call, plan, [deployment])
  const started = await startAttempt(services, call, plan, deployment, { early: true })
  if (!started) return undefined
  call.servedGroup = plan.group.name
  return { plan, started }
}

/** Why nobody took a call that its groups could have answered, and when they may. */
export function nobodyFree(services: PipelineServices, plans: readonly Plan[]): GatewayError {
  const name = plans[0]?.group.name
  const now = services.clock.now()
  const signals = plans.flatMap(everybody).map(({ id }) => services.signals.of(id))
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

/** Cooled, or being probed after that. */
export const isUnwell = ({ failures, cooledUntil }: DeploymentSignals) => failures > 0 && cooledUntil > 0
