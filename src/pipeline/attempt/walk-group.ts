import { GatewayError } from '../../lib/errors.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { Attempt, Call } from '../call.ts'
import { departure } from '../client.ts'
import { furtherMembers } from '../plan/further-members.ts'
import { learnSignals } from '../plan/learn-signals.ts'
import { allDeployments, type Plan } from '../plan/plan.ts'
import type { PipelineServices } from '../services.ts'
import { attempt, type Committed } from './attempt.ts'
import { noneAvailable } from './early-probe.ts'
import { hedgedAttempt, type StartHedge } from './hedged-attempt.ts'
import { type Pause, pause, queued, type Retry } from './retry-queue.ts'
import { settleEnded } from './settle-ended.ts'
import { giveUp, startAttempt, startReserved } from './start-attempt.ts'

/** An attempt that is running. */
export interface Begun {
  /** The attempt, and the one that was started beside it. */
  readonly tried: Attempt[]
  readonly committing: Promise<Committed>
}

/** The deployments of one group while they are asked. */
export interface GroupWalk {
  readonly plan: Plan
  /** The attempt that runs before the walk begins. */
  begun: Begun | undefined
  /** undefined before the walk begins: their order goes by the signals of that moment. */
  untried: Deployment[] | undefined
  /** Loads more of a large group. */
  more: (() => Promise<Deployment[]>) | undefined
  /** The deployments that failed and may be asked once more, in this order. */
  retries: Retry[]
  retriesLeft: number
  failures: number
  failure: GatewayError | undefined
  refusal: GatewayError | undefined
  rested: Pause | undefined
}

/** The group has only failed deployments left, and other groups should be tried first. */
export interface Rest {
  readonly kind: 'rest'
  readonly failure: GatewayError
  /** The deployment that would be retried next. */
  readonly next: Retry
}

export function groupWalk(plan: Plan): GroupWalk {
  return {
    plan,
    begun: undefined,
    untried: undefined,
    more: undefined,
    retries: [],
    retriesLeft: plan.settings.numRetries,
    failures: 0,
    failure: undefined,
    refusal: undefined,
    rested: undefined,
  }
}

/** Begins a walk with the attempt at the deployment that admission reserved, unless a second one may run beside it. */
export function beginReserved(services: PipelineServices, call: Call, walk: GroupWalk): Promise<Committed> | undefined {
  const { plan } = walk
  // Admission reserves a place for the first turn of a call alone.
  if (call.plans.length > 0 || plan.settings.hedge || call.client.signal.aborted) return undefined
  const [first, ...others] = admittedOrder(call, plan)
  const started = first && startReserved(call, plan, first)
  if (!started) return undefined
  call.plans.push(plan)
  walk.untried = others
  walk.begun = { tried: [started], committing: attempt(services, call, started) }
  return walk.begun.committing
}

/** Goes on with the deployments of a group until one commits. Rests before each retry of a deployment that timed out or
 *  asked for a pause, and retries it when the walk goes on. Rejects when none is left. */
export async function walkOn(services: PipelineServices, call: Call, walk: GroupWalk): Promise<Committed | Rest> {
  const { plan } = walk
  walk.untried ??= plan === call.plans[0] ? admittedOrder(call, plan) : plan.order()
  if (walk.rested) await pause(call, walk.rested)
  walk.rested = undefined
  for (;;) {
    const begun = walk.begun ?? (await beginNext(services, call, walk))
    walk.begun = undefined
    if (!begun) break
    try {
      return await begun.committing
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      await noteFailure(services, call, walk, begun, error)
    }
    const { failure } = walk
    if (!failure) continue
    // A body that is partly consumed cannot be sent again.
    if (failure.isFinal || call.form?.raw.repeatable === false) throw failure
    queueRetries(walk, begun)
    // Moving on after refused access is not counted as a retry: other deployments have other credentials.
    if (begun.tried.some(mayRetry) && walk.retriesLeft-- === 0) break
    if (walk.untried.length === 0) await learnMembers(services, call, walk)
    const [next] = walk.untried.length === 0 ? walk.retries : []
    if (walk.untried.length === 0 && !next) break
    settleEnded(services, call)
    const due = pauseBefore(next, walk, failure, services.random)
    if (next && (next.silent || next.notBefore > performance.now())) {
      walk.rested = due
      return { kind: 'rest', failure, next }
    }
    await pause(call, due)
  }
  if (walk.failure ?? walk.refusal) throw walk.failure ?? walk.refusal
  // Admission reported signals of the requested group only.
  if (plan.group !== call.group) await learnSignals(services, call, allDeployments(plan))
  throw noneAvailable(services, [plan])
}

/** Begins an attempt at the next deployment that takes it; undefined if none does. */
async function beginNext(services: PipelineServices, call: Call, walk: GroupWalk): Promise<Begun | undefined> {
  const { plan } = walk
  const untried = walk.untried as Deployment[]
  for (;;) {
    if (untried.length === 0) await learnMembers(services, call, walk)
    const fresh = untried.shift()
    const deployment = fresh ?? walk.retries.shift()?.deployment
    if (!deployment) return undefined
    if (call.client.signal.aborted) throw departure(call.client.signal)
    const started =
      startReserved(call, plan, deployment) ??
      (await startAttempt(services, call, plan, deployment, { retry: fresh === undefined }))
    if (!started) continue
    const tried = [started]
    const startHedge = hedgeBeside(services, call, walk, tried)
    return { tried, committing: hedgedAttempt(services, call, plan, started, startHedge) }
  }
}

/** Starts the second attempt of a hedge, which uses up one retry, if any is left. */
function hedgeBeside(services: PipelineServices, call: Call, walk: GroupWalk, tried: Attempt[]): StartHedge {
  const untried = walk.untried as Deployment[]
  return async (wanted) => {
    for (let other = untried.shift(); other; other = untried.shift()) {
      const second = await startAttempt(services, call, walk.plan, other, { wanted })
      if (!second) {
        if (wanted()) continue
        return undefined
      }
      tried.push(second)
      if (walk.retriesLeft > 0) walk.retriesLeft -= 1
      return second
    }
    return undefined
  }
}

async function learnMembers(services: PipelineServices, call: Call, walk: GroupWalk): Promise<void> {
  walk.more ??= furtherMembers(services, call, walk.plan)
  walk.untried?.push(...(await walk.more()))
}

/** Keeps the failure of an attempt; or, if its provider's API cannot express the request, passes the deployment over while
 *  another may. */
async function noteFailure(
  services: PipelineServices,
  call: Call,
  walk: GroupWalk,
  { tried }: Begun,
  error: GatewayError,
): Promise<void> {
  const [first] = tried
  const inexpressible = first && isInexpressible(first, error)
  if (inexpressible && walk.untried?.length === 0) await learnMembers(services, call, walk)
  if (inexpressible && (walk.untried?.length || call.attempts.length > 1)) {
    passOver(services, call, first)
    walk.refusal = error
    tried.length = 0
  } else walk.failure = error
}

/** Whether a provider was not asked because its API cannot express the request. Others may be able to. */
function isInexpressible({ asked }: Attempt, { failure }: GatewayError): boolean {
  return !asked && failure === 'invalid_request'
}

/** An earlier failure, or another deployment's answer, tells the client more than such a refusal. */
function passOver(services: PipelineServices, call: Call, attempt: Attempt): void {
  call.inexpressible ??= new Set()
  call.inexpressible.add(attempt.deployment.id)
  giveUp(services, call, attempt)
}

const mayRetry = ({ failure }: Attempt) => failure?.row.retry === true

function queueRetries(walk: GroupWalk, { tried }: Begun): void {
  for (const { deployment, failure } of tried) {
    walk.failures += 1
    if (failure?.row.retry) walk.retries = queued(walk.retries, deployment, failure)
  }
}

/** The wait before the next attempt: at `next`, which has failed before, or else at another deployment. */
function pauseBefore(
  next: Retry | undefined,
  { plan, failures }: GroupWalk,
  failure: GatewayError,
  random: () => number,
): Pause {
  const { retryAfterSeconds } = plan.settings
  const base = next ? retryAfterSeconds || 0.5 : retryAfterSeconds
  return { failure, notBefore: next?.notBefore ?? 0, base, failures, random }
}

/** The reserved deployment first, then the others in the strategy's order. Empty if admission found all of them cooled
 *  or full, so that they are not asked one by one. */
function admittedOrder({ unused: [reserved] }: Call, plan: Plan): Deployment[] {
  if (!reserved) return []
  const order = plan.order()
  if (order[0]?.id === reserved.deployment) return order
  const isReserved = ({ id }: Deployment) => id === reserved.deployment
  return order.sort((a, b) => Number(isReserved(b)) - Number(isReserved(a)))
}
