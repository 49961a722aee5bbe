import { GatewayError } from '../../lib/errors.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { Attempt, Call } from '../call.ts'
import { departure } from '../client.ts'
import { furtherMembers } from '../plan/further-members.ts'
import { allDeployments, type Plan } from '../plan/plan.ts'
import type { PipelineServices } from '../services.ts'
import type { Committed } from './attempt.ts'
import { backoffMs, sleep } from './backoff.ts'
import { noneAvailable } from './early-probe.ts'
import { hedgedAttempt, type StartHedge } from './hedged-attempt.ts'
import { settleEnded } from './settle-ended.ts'
import { giveUp, startAttempt, startReserved } from './start-attempt.ts'

/** A deployment that failed and may be retried. */
export interface Again {
  readonly deployment: Deployment
  /** The `performance.now()` until which it asked not to be called; 0 if it did not. */
  readonly notBefore: number
  /** It timed out. */
  readonly silent: boolean
}

/** The group has only failed deployments left, and other groups should be tried first. */
export interface Rest {
  readonly kind: 'rest'
  readonly failure: GatewayError
  /** The deployment that would be retried next. */
  readonly next: Again
}

/** Goes on with the deployments of a group until one commits. Rejects when none is left. */
export type GroupWalk = () => Promise<Committed | Rest>

/** Asks the deployments of one group until one commits. Rests before each retry of a deployment that timed out or asked
 *  for a pause, and retries it when the walk goes on. */
export function walkGroup(services: PipelineServices, call: Call, plan: Plan): GroupWalk {
  const { numRetries: retries, retryAfterSeconds: retryAfter, hedge } = plan.settings
  const untried: Deployment[] = []
  let begun = false
  let moreMembers: (() => Promise<Deployment[]>) | undefined
  let again: Again[] = []
  let retriesLeft = retries
  let failures = 0
  let failure: GatewayError | undefined
  let refusal: GatewayError | undefined
  let rested: Pause | undefined

  const learnMembers = async () => {
    moreMembers ??= furtherMembers(services, call, plan)
    untried.push(...(await moreMembers()))
  }
  const hedgeBeside = (tried: Attempt[]): StartHedge => {
    return async (wanted) => {
      for (let other = untried.shift(); other; other = untried.shift()) {
        const second = await startAttempt(services, call, plan, other, { wanted })
        if (!second) {
          if (wanted()) continue
          return undefined
        }
        tried.push(second)
        // The hedge uses up one retry, if any is left.
        if (retriesLeft > 0) retriesLeft -= 1
        return second
      }
      return undefined
    }
  }

  return async () => {
    if (!begun) untried.push(...(plan === call.plans[0] ? admittedOrder(call, plan) : plan.order()))
    begun = true
    if (rested) await pause(call, rested)
    rested = undefined
    for (;;) {
      if (untried.length === 0) await learnMembers()
      const fresh = untried.shift()
      const deployment = fresh ?? again.shift()?.deployment
      if (!deployment) break
      if (call.client.signal.aborted) throw departure(call.client.signal)
      const started =
        startReserved(call, plan, deployment) ??
        (await startAttempt(services, call, plan, deployment, { retry: fresh === undefined }))
      if (!started) continue
      const tried = [started]
      try {
        return await hedgedAttempt(services, call, plan, started, hedge ? hedgeBeside(tried) : noHedge)
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
        const inexpressible = isInexpressible(started, error)
        if (inexpressible && untried.length === 0) await learnMembers()
        if (inexpressible && (untried.length > 0 || call.attempts.length > 1)) {
          passOver(services, call, started)
          refusal = error
          tried.length = 0
        } else failure = error
      }
      if (!failure) continue
      // A body that is partly consumed cannot be sent again.
      if (failure.isFinal || call.form?.raw.repeatable === false) throw failure
      let retry = false
      for (const one of tried) {
        failures += 1
        if (!one.failure?.row.retry) continue
        retry = true
        again = queued(again, one.deployment, one.failure)
      }
      // Moving on after refused access is not counted as a retry: other deployments have other credentials.
      if (retry && retriesLeft-- === 0) break
      if (untried.length === 0) await learnMembers()
      const [next] = untried.length === 0 ? again : []
      if (untried.length === 0 && !next) break
      settleEnded(services, call)
      const base = next ? retryAfter || 0.5 : retryAfter
      const due: Pause = { failure, notBefore: next?.notBefore ?? 0, base, failures, random: services.random }
      if (next && (next.silent || next.notBefore > performance.now())) {
        rested = due
        return { kind: 'rest', failure, next }
      }
      await pause(call, due)
    }
    if (failure ?? refusal) throw failure ?? refusal
    // Admission reported signals of the requested group only.
    if (plan.group !== call.group)
      services.signals.learn(await services.store.signals(allDeployments(plan).map(({ id }) => id)))
    throw noneAvailable(services, [plan])
  }
}

/** Whether a provider was not asked because its API cannot express the request, which says nothing of other providers.
 *  */
function isInexpressible({ asked }: Attempt, { failure }: GatewayError): boolean {
  return !asked && failure === 'invalid_request'
}

/** An earlier failure, or another deployment's answer, tells the client more than such a refusal. */
function passOver(services: PipelineServices, call: Call, attempt: Attempt): void {
  call.inexpressible ??= new Set()
  call.inexpressible.add(attempt.deployment.id)
  giveUp(services, call, attempt)
}

const noHedge: StartHedge = async () => undefined

/** Orders retries by the earliest allowed time; among equals the last failure first, because the others have waited
 *  longer already. Deployments that timed out come last. */
function queued(again: readonly Again[], deployment: Deployment, failure: GatewayError): Again[] {
  const { retryAfterSeconds } = failure.details
  const notBefore = retryAfterSeconds === undefined ? 0 : performance.now() + 1000 * retryAfterSeconds
  const silent = failure.failure === 'upstream_timeout'
  const entry = { deployment, notBefore, silent }
  return (silent ? [...again, entry] : [entry, ...again]).sort(bySoonest)
}

export const bySoonest = (a: Again, b: Again): number =>
  Number(a.silent) - Number(b.silent) || a.notBefore - b.notBefore

/** The reserved deployment first, then the others in the strategy's order. Empty if admission found all of them cooled
 *  or full, so that they are not asked one by one. */
function admittedOrder({ unused: [reserved] }: Call, plan: Plan): Deployment[] {
  if (!reserved) return []
  const order = plan.order()
  if (order[0]?.id === reserved.deployment) return order
  const isReserved = ({ id }: Deployment) => id === reserved.deployment
  return order.sort((a, b) => Number(isReserved(b)) - Number(isReserved(a)))
}

/** A wait before the next attempt. */
interface Pause {
  readonly failure: GatewayError
  readonly notBefore: number
  readonly base: number
  readonly failures: number
  readonly random: () => number
}

/** Waits before the next attempt. Throws the failure at once if the wait does not fit into the call's deadline. */
async function pause(call: Call, { failure, notBefore, base, failures, random }: Pause): Promise<void> {
  const now = performance.now()
  const wait = Math.max(notBefore - now, backoffMs(base, failures, random))
  if (now + wait >= call.deadline) throw failure
  await sleep(wait, call.client.signal)
}
