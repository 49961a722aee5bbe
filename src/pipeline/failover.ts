import { type Failure, type FailureName, GatewayError } from '../lib/errors.ts'
import type { Deployment } from '../routing/deployment.ts'
import { ask, type Beside } from './ask.ts'
import type { Committed } from './attempt.ts'
import { backoffMs, sleep } from './backoff.ts'
import type { Call } from './call.ts'
import { departure } from './client.ts'
import { fallbackGroups, planFallback } from './fallbacks.ts'
import { furtherOf } from './further.ts'
import { holdFallback } from './hold-fallback.ts'
import { earlyProbe, nobodyFree } from './last-resort.ts'
import type { PipelineServices } from './pipeline.ts'
import { everybody, type Plan } from './plan.ts'
import { settleEnded } from './settle-ended.ts'
import { startAttempt, startReserved } from './start-attempt.ts'

const NOBODY_FREE: readonly FailureName[] = ['no_healthy_deployment', 'no_capacity']

/** Walks deployments until one commits: the group's own in the strategy's order, with retries, then the groups of the
 *  chain that fits the failure, each group once. Who was silent is asked again when all of them have failed. When nobody
 *  is left, throws the last failure: of those who were asked, where anybody was. */
export async function failover(services: PipelineServices, call: Call, first: Plan): Promise<Committed> {
  const waiting: Walk[] = [walkOf(services, call, first)]
  /** Groups whose turn has come, in which only silent ones could be asked again. */
  const silent: Walk[] = []
  let visited: Set<string> | undefined
  let failure: GatewayError | undefined

  for (let walk = waiting.shift(); walk; walk = waiting.shift() ?? silent.shift()) {
    const { plan } = walk
    const again = call.plans.includes(plan)
    if (!again) call.plans.push(plan)
    const { servedGroup } = call
    const attempts = call.attempts.length
    let chain: Failure['chain']
    try {
      if (!again && plan !== first) await holdFallback(services, call, plan, plan.order())
      call.servedGroup = plan.group.name
      const { done, value } = await walk.steps.next()
      if (!done) {
        silent.push(walk)
        throw value
      }
      for (const one of call.attempts) one.comesAgain = false
      if (value.kind === 'stream') settleEnded(services, call)
      return value
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      chain = error.row.chain
      const askedNobody = call.attempts.length === attempts
      // A group in which nobody was asked has served nothing, and says less than who was asked before.
      if (askedNobody) call.servedGroup = servedGroup
      if (call.client.signal.aborted) throw departure(call.client.signal)
      const says = !askedNobody || failure === undefined || (attempts === 0 && NOBODY_FREE.includes(error.failure))
      if (says) failure = error
      // What is wrong with the request is so everywhere; those that wait were to answer for an earlier failure.
      if (!askedNobody && chain !== 'fallbacks') waiting.length = silent.length = 0
    }
    if (performance.now() >= call.deadline || call.form?.raw.repeatable === false) break
    visited ??= new Set([first.group.name])
    for (const group of fallbackGroups(services, chain, plan.group)) {
      if (visited.has(group.name)) continue
      visited.add(group.name)
      const fallback = planFallback(services, call, group)
      if (fallback) waiting.push(walkOf(services, call, fallback))
    }
    if (waiting.length > 0) settleEnded(services, call)
  }
  if (call.attempts.length === 0 && failure && NOBODY_FREE.includes(failure.failure)) {
    const probe = failure.failure === 'no_healthy_deployment' ? await earlyProbe(services, call) : undefined
    if (probe) return ask(services, call, probe.plan, probe.started, async () => undefined)
    // By the name that was asked for: a fallback may be none that the caller knows.
    throw nobodyFree(services, call.plans)
  }
  throw failure ?? new GatewayError('internal', 'No attempt was made.')
}

/** A group on the way through its deployments. */
interface Walk {
  readonly plan: Plan
  readonly steps: AsyncGenerator<GatewayError, Committed, void>
}

function walkOf(services: PipelineServices, call: Call, plan: Plan): Walk {
  return { plan, steps: tryGroup(services, call, plan) }
}

/** Asks the deployments of one group. Yields the last failure, once each time, before a silent one is asked again:
 *  everybody else comes first. */
async function* tryGroup(
  services: PipelineServices,
  call: Call,
  plan: Plan,
): AsyncGenerator<GatewayError, Committed, void> {
  const { numRetries: retries, retryAfterSeconds: retryAfter } = plan.settings
  const further = furtherOf(services, call, plan)
  const untried = plan === call.plans[0] ? admittedOrder(call, plan) : plan.order()
  let again: Again[] = []
  let retriesLeft = retries
  let failures = 0
  let failure: GatewayError | undefined

  for (;;) {
    if (untried.length === 0) untried.push(...(await further()))
    const fresh = untried.shift()
    const deployment = fresh ?? again.shift()?.deployment
    if (!deployment) break
    if (call.client.signal.aborted) throw departure(call.client.signal)
    const started = startReserved(call, plan, deployment) ?? (await startAttempt(services, call, plan, deployment))
    if (!started) continue
    // Nobody is asked again by this call: what has failed need not wait for the end of what follows.
    if (failures > 0 && retriesLeft === 0) settleEnded(services, call)
    const tried = [started]
    const beside: Beside = async (wanted) => {
      for (let other = untried.shift(); other; other = untried.shift()) {
        const second = await startAttempt(services, call, plan, other, { wanted })
        if (!second) {
          if (wanted()) continue
          return undefined
        }
        tried.push(second)
        // One of the attempts that the group has, where it has more than one.
        if (retriesLeft > 0) retriesLeft -= 1
        return second
      }
      return undefined
    }
    try {
      return await ask(services, call, plan, started, beside)
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      failure = error
    }
    // A body of which the beginning is gone cannot be sent to anybody else.
    if (failure.isFinal || call.form?.raw.repeatable === false) throw failure
    let retry = false
    for (const one of tried) {
      failures += 1
      if (!one.failure?.row.retry) continue
      retry = true
      again = queued(again, one.deployment, one.failure)
    }
    // Refused access says nothing about the others: going on to them is not a retry.
    if (retry && retriesLeft-- === 0) break
    if (untried.length === 0) untried.push(...(await further()))
    const same = untried.length === 0
    if (same && again.length === 0) break
    if (same && again[0]?.silent) {
      const silent = call.attempts.filter((one) => one.plan === plan && isSilence(one.failure))
      for (const one of silent) one.comesAgain = true
      yield failure
      for (const one of silent) one.comesAgain = false
    }
    const notBefore = same ? (again[0]?.notBefore ?? 0) : 0
    await pause(call, failure, {
      notBefore,
      base: same ? retryAfter || 0.5 : retryAfter,
      failures,
      random: services.random,
    })
  }
  if (failure) throw failure
  // Admission told of the group that was asked for, and of no other.
  if (plan.group !== call.group)
    services.signals.learn(await services.store.signals(everybody(plan).map(({ id }) => id)))
  throw nobodyFree(services, [plan])
}

/** A deployment that failed and may do better later. */
interface Again {
  readonly deployment: Deployment
  /** `performance.now()` until which it asked to be left alone; 0 when it did not. */
  readonly notBefore: number
  /** It did not answer in time. */
  readonly silent: boolean
}

const isSilence = (failure: GatewayError | undefined) => failure?.failure === 'upstream_timeout'

/** The one that may be asked soonest comes first; of several, the one that failed last, for the others have been waited
 *  for already. A silent one is not asked again while another can be. */
function queued(again: readonly Again[], deployment: Deployment, failure: GatewayError): Again[] {
  const { retryAfterSeconds } = failure.details
  const notBefore = retryAfterSeconds === undefined ? 0 : performance.now() + 1000 * retryAfterSeconds
  const silent = isSilence(failure)
  const entry = { deployment, notBefore, silent }
  const all = silent ? [...again, entry] : [entry, ...again]
  return all.sort((a, b) => Number(a.silent) - Number(b.silent) || a.notBefore - b.notBefore)
}

/** What admission has reserved, by the newest of signals, and the others behind it in the strategy's order. Where it found
 *  all of them cooled or full, they are not asked again one by one. */
function admittedOrder({ unused: [reserved] }: Call, plan: Plan): Deployment[] {
  if (!reserved) return []
  const isReserved = ({ id }: Deployment) => id === reserved.deployment
  return plan.order().sort((a, b) => Number(isReserved(b)) - Number(isReserved(a)))
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
