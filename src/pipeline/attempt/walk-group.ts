import { GatewayError } from '../../lib/errors.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { Call } from '../call.ts'
import { departure } from '../client.ts'
import { furtherMembers } from '../plan/further-members.ts'
import { everybody, type Plan } from '../plan/plan.ts'
import type { PipelineServices } from '../services.ts'
import type { Committed } from './attempt.ts'
import { backoffMs, sleep } from './backoff.ts'
import { nobodyFree } from './early-probe.ts'
import { ask, type Beside } from './hedge.ts'
import { settleEnded } from './settle-ended.ts'
import { startAttempt, startReserved } from './start-attempt.ts'

/** A deployment that failed and may do better later. */
export interface Again {
  readonly deployment: Deployment
  /** `performance.now()` until which it asked to be left alone; 0 when it did not. */
  readonly notBefore: number
  /** It did not answer in time. */
  readonly silent: boolean
}

/** Nobody is left of a group but deployments that have failed, and others had better be asked first. */
export interface Rest {
  readonly failure: GatewayError
  /** The one that would be asked next. */
  readonly next: Again
}

/** Asks the deployments of one group until one commits. Rests, once each time, before one is asked again that was silent
 *  or wants to be left alone for now. */
export async function* walkGroup(
  services: PipelineServices,
  call: Call,
  plan: Plan,
): AsyncGenerator<Rest, Committed, void> {
  const { numRetries: retries, retryAfterSeconds: retryAfter } = plan.settings
  const moreMembers = furtherMembers(services, call, plan)
  const untried = plan === call.plans[0] ? admittedOrder(call, plan) : plan.order()
  let again: Again[] = []
  let retriesLeft = retries
  let failures = 0
  let failure: GatewayError | undefined

  for (;;) {
    if (untried.length === 0) untried.push(...(await moreMembers()))
    const fresh = untried.shift()
    const deployment = fresh ?? again.shift()?.deployment
    if (!deployment) break
    if (call.client.signal.aborted) throw departure(call.client.signal)
    const started =
      startReserved(call, plan, deployment) ??
      (await startAttempt(services, call, plan, deployment, { retry: fresh === undefined }))
    if (!started) continue
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
    if (untried.length === 0) untried.push(...(await moreMembers()))
    const [next] = untried.length === 0 ? again : []
    if (untried.length === 0 && !next) break
    settleEnded(services, call)
    if (next && (next.silent || next.notBefore > performance.now())) yield { failure, next }
    await pause(call, failure, {
      notBefore: next?.notBefore ?? 0,
      base: next ? retryAfter || 0.5 : retryAfter,
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

/** The one that may be asked soonest comes first; of several, the one that failed last, for the others have been waited
 *  for already. A silent one is not asked again while another can be. */
function queued(again: readonly Again[], deployment: Deployment, failure: GatewayError): Again[] {
  const { retryAfterSeconds } = failure.details
  const notBefore = retryAfterSeconds === undefined ? 0 : performance.now() + 1000 * retryAfterSeconds
  const silent = failure.failure === 'upstream_timeout'
  const entry = { deployment, notBefore, silent }
  return (silent ? [...again, entry] : [entry, ...again]).sort(bySoonest)
}

export const bySoonest = (a: Again, b: Again): number =>
  Number(a.silent) - Number(b.silent) || a.notBefore - b.notBefore

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
