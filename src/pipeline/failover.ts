import { GatewayError } from '../lib/errors.ts'
import type { Deployment } from '../routing/deployment.ts'
import type { CapacityUnit } from '../stores/kv/deployment-signals.ts'
import type { Admitted } from '../stores/kv/shared-store.ts'
import { attempt, type Committed } from './attempt.ts'
import { backoffMs, sleep } from './backoff.ts'
import type { Call } from './call.ts'
import { fallbackGroups, planFallback } from './fallbacks.ts'
import { holdFallback } from './hold-fallback.ts'
import type { PipelineServices } from './pipeline.ts'
import { asCandidate, type Plan } from './plan.ts'
import { type Reserved, startAttempt } from './start-attempt.ts'

/** Walks deployments until one commits: the group's own in the strategy's order, with retries, then the groups of the
 *  chain that fits the failure, each group once. Throws the last failure when nobody is left. */
export async function failover(
  services: PipelineServices,
  call: Call,
  first: { readonly plan: Plan; readonly admitted: Admitted; readonly attemptId: string },
): Promise<Committed> {
  const visited = new Set([first.plan.group.name])
  const waiting: Plan[] = [first.plan]
  let reserved = reservedFirst(first)
  let failure: GatewayError | undefined

  for (let plan = waiting.shift(); plan; plan = waiting.shift()) {
    try {
      if (plan !== first.plan) await holdFallback(services, call, plan)
      call.servedGroup = plan.group.name
      return await tryGroup(services, call, plan, reserved)
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      failure = error
    }
    reserved = undefined
    if (performance.now() >= call.deadline) break
    for (const group of fallbackGroups(services, failure.row.chain, plan.group)) {
      if (visited.has(group.name)) continue
      visited.add(group.name)
      const fallback = planFallback(services, call, group)
      if (fallback) waiting.push(fallback)
    }
  }
  throw failure ?? new GatewayError('internal', 'No attempt was made.')
}

function reservedFirst(first: { readonly admitted: Admitted; readonly attemptId: string }): Reserved | undefined {
  const deployment = first.admitted.reserved
  return deployment === undefined ? undefined : { attemptId: first.attemptId, deployment }
}

async function tryGroup(
  services: PipelineServices,
  call: Call,
  plan: Plan,
  reserved: Reserved | undefined,
): Promise<Committed> {
  const { numRetries: retries, retryAfterSeconds: retryAfter } = plan.settings
  const untried = orderFrom(services, call, plan, reserved)
  let again: Again[] = []
  let retriesLeft = retries
  let failures = 0
  let failure: GatewayError | undefined

  for (;;) {
    const fresh = untried.shift()
    const deployment = fresh ?? again.shift()?.deployment
    if (!deployment) break
    if (call.client.signal.aborted) throw new GatewayError('client_closed', 'The client closed the connection.')
    const started = await startAttempt(services, call, deployment, fresh && reserved)
    if (!started) continue
    try {
      return await attempt(services, call, started)
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      started.failure = error
      started.endedAt = performance.now()
      failure = error
    }
    if (!failure.row.blames) throw failure
    failures += 1
    const { retry } = failure.row
    if (retry) again = queued(again, deployment, failure)
    // Refused access says nothing about the others: going on to them is not a retry.
    if (retry && retriesLeft-- === 0) break
    const same = untried.length === 0
    if (same && again.length === 0) break
    const notBefore = same ? (again[0]?.notBefore ?? 0) : 0
    await pause(call, failure, {
      notBefore,
      base: same ? retryAfter || 0.5 : retryAfter,
      failures,
      random: services.random,
    })
  }
  throw failure ?? nobodyFree(services, plan)
}

/** A deployment that failed and may do better later. */
interface Again {
  readonly deployment: Deployment
  /** `performance.now()` until which it asked to be left alone; 0 when it did not. */
  readonly notBefore: number
}

/** The one that may be asked soonest comes first; of several, the one that failed last, for the others have been waited
 *  for already. A silent one is not asked again while another can be. */
function queued(again: readonly Again[], deployment: Deployment, failure: GatewayError): Again[] {
  const { retryAfterSeconds } = failure.details
  const notBefore = retryAfterSeconds === undefined ? 0 : performance.now() + 1000 * retryAfterSeconds
  const entry = { deployment, notBefore }
  const all = failure.failure === 'upstream_timeout' ? [...again, entry] : [entry, ...again]
  return all.sort((a, b) => a.notBefore - b.notBefore)
}

/** The strategy's order by the signals that admission brought. What admission reserved was first by older ones: where
 *  another is first now, and free, the reservation is given back. */
function orderFrom(services: PipelineServices, call: Call, plan: Plan, reserved: Reserved | undefined): Deployment[] {
  const order = plan.order()
  const [best] = order
  if (!reserved || !best || best.id === reserved.deployment) return order
  const signals = services.signals.of(best.id)
  const cooled = signals.failures > 0 && signals.cooledUntil > 0
  const full = Object.entries(asCandidate(services, best).limits).some(
    ([unit, limit]) => (signals.used[unit as CapacityUnit] ?? 0) >= limit,
  )
  if (cooled || full)
    return order.sort((a, b) => Number(b.id === reserved.deployment) - Number(a.id === reserved.deployment))
  call.returned.push(reserved)
  return order
}

/** The wait before the next attempt. What does not fit into the call is not waited for: the failure is told now. */
async function pause(
  call: Call,
  failure: GatewayError,
  next: { notBefore: number; base: number; failures: number; random: () => number },
): Promise<void> {
  const now = performance.now()
  const wait = Math.max(next.notBefore - now, backoffMs(next.base, next.failures, next.random))
  if (now + wait >= call.deadline) throw failure
  await sleep(wait, call.client.signal)
}

function nobodyFree(services: PipelineServices, { group }: Plan): GatewayError {
  const now = services.clock.now()
  const signals = group.deployments.map(({ id }) => services.signals.of(id))
  const cooled = signals.filter(({ cooledUntil }) => cooledUntil > now)
  if (cooled.length < signals.length) {
    return new GatewayError('no_capacity', `Every deployment of '${group.name}' is at its limit. Retry later.`, {
      retryAfterSeconds: 60,
    })
  }
  const soonest = Math.min(...cooled.map(({ cooledUntil }) => cooledUntil))
  return new GatewayError('no_healthy_deployment', `No deployment of '${group.name}' is healthy. Retry later.`, {
    retryAfterSeconds: Math.max(1, Math.ceil((soonest - now) / 1000)),
  })
}
