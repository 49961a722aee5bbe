import { type FailureName, GatewayError } from '../../lib/errors.ts'
import { holdFallback } from '../admit/hold-fallback.ts'
import { askForAll } from '../cache/from-cache.ts'
import type { Call } from '../call.ts'
import { departure } from '../client.ts'
import { fallbackGroups, planFallback } from '../plan/fallbacks.ts'
import type { Plan } from '../plan/plan.ts'
import type { PipelineServices } from '../services.ts'
import type { Committed } from './attempt.ts'
import { earlyProbe, noneAvailable } from './early-probe.ts'
import { hedgedAttempt } from './hedged-attempt.ts'
import { bySoonest } from './retry-queue.ts'
import { settleEnded } from './settle-ended.ts'
import { someSooner } from './some-sooner.ts'
import { beginReserved, type GroupWalk, groupWalk, type Rest, walkOn } from './walk-group.ts'

const NONE_AVAILABLE: readonly FailureName[] = ['no_healthy_deployment', 'no_capacity']

/** A walk that waits before it retries a deployment. */
interface Resting {
  readonly walk: GroupWalk
  readonly rest: Rest
}

/** Tries deployments until one commits: the group's own in the strategy's order, with retries, then the groups of the
 *  fallback chain that fits the failure, each group once. A deployment that timed out is retried once every group has
 *  failed; one that asked for a pause, unless another group would answer sooner. When none is left, rejects with the last
 *  failure of an attempt, or with the refusal if no attempt was made. */
export function failover(services: PipelineServices, call: Call, first: Plan): Promise<Committed> {
  const walk = groupWalk(first)
  const committing = beginReserved(services, call, walk)
  // Most calls need nothing of what follows.
  return committing ? committing.catch(() => tryAll(services, call, walk)) : tryAll(services, call, walk)
}

async function tryAll(services: PipelineServices, call: Call, walkOfFirst: GroupWalk): Promise<Committed> {
  const { plan: first } = walkOfFirst
  const waiting: GroupWalk[] = []
  const resting: Resting[] = []
  const visited = new Set([first.group.name])
  let failure: GatewayError | undefined

  for (let walk: GroupWalk | undefined = walkOfFirst; walk; walk = await nextOf(services, call, waiting, resting)) {
    const { plan } = walk
    const tried = await tryGroup(services, call, walk, { isFallback: plan !== first })
    if (tried.kind !== 'failed') return tried
    if (call.client.signal.aborted) throw departure(call.client.signal)
    const { askedNone, rest } = tried
    const { failure: name, row } = tried.failure
    if (rest) resting.push({ walk, rest })
    // Earlier failures of attempts tell more than the refusal of a group without one.
    const isNews = !askedNone || (call.attempts.length === 0 && NONE_AVAILABLE.includes(name))
    if (isNews || failure === undefined) failure = tried.failure
    // A fault of the request repeats everywhere: the groups queued for earlier failures are dropped.
    if (!askedNone && row.chain !== 'fallbacks') waiting.length = resting.length = 0
    if (performance.now() >= call.deadline || call.form?.raw.repeatable === false) break
    for (const group of fallbackGroups(services, row.chain, plan.group)) {
      if (visited.has(group.name)) continue
      visited.add(group.name)
      const fallback = planFallback(services, call, group)
      if (fallback) waiting.push(groupWalk(fallback))
    }
    if (waiting.length + resting.length > 0) settleEnded(services, call)
  }
  return lastResort(services, call, failure)
}

/** A group of which no deployment has answered. */
interface FailedGroup {
  readonly kind: 'failed'
  readonly failure: GatewayError
  /** No attempt was made. */
  readonly askedNone: boolean
  /** Present if a deployment may be retried later. */
  readonly rest?: Rest
}

/** Begins the walk of a group, or goes on with it. */
async function tryGroup(
  services: PipelineServices,
  call: Call,
  walk: GroupWalk,
  { isFallback }: { readonly isFallback: boolean },
): Promise<Committed | FailedGroup> {
  const { plan } = walk
  const { servedGroup } = call
  const attempts = call.attempts.length - (walk.begun ? 1 : 0)
  const isNew = !call.plans.includes(plan)
  if (isNew) call.plans.push(plan)
  const failed = (failure: GatewayError, rest?: Rest): FailedGroup => {
    const askedNone = call.attempts.length === attempts
    // A group without an attempt served nothing.
    if (askedNone) call.servedGroup = servedGroup
    return { kind: 'failed', failure, askedNone, ...(rest && { rest }) }
  }
  try {
    if (isFallback) askForAll(call)
    if (isFallback && isNew) await holdFallback(services, call, plan, plan.order())
    call.servedGroup = plan.group.name
    const result = await walkOn(services, call, walk)
    return result.kind === 'rest' ? failed(result.failure, result) : result
  } catch (error) {
    if (error instanceof GatewayError) return failed(error)
    throw error
  }
}

/** Probes a cooled deployment if all deployments of the call's groups are cooled. Rejects with the failure of the call
 *  otherwise. */
async function lastResort(
  services: PipelineServices,
  call: Call,
  failure: GatewayError | undefined,
): Promise<Committed> {
  if (call.attempts.length > 0 || !failure || !NONE_AVAILABLE.includes(failure.failure))
    throw failure ?? new GatewayError('internal', 'No attempt was made.')
  const probe = failure.failure === 'no_healthy_deployment' ? await earlyProbe(services, call) : undefined
  if (probe) return hedgedAttempt(services, call, probe.plan, probe.started, async () => undefined)
  // Names the requested group: the caller may not know the fallbacks.
  throw noneAvailable(services, call.plans)
}

/** The next walk: an untried group, unless a waiting retry would answer sooner. */
async function nextOf(
  services: PipelineServices,
  call: Call,
  waiting: GroupWalk[],
  resting: Resting[],
): Promise<GroupWalk | undefined> {
  const [soonest] = resting.sort((a, b) => bySoonest(a.rest.next, b.rest.next))
  const { silent, notBefore } = soonest?.rest.next ?? { silent: true, notBefore: 0 }
  const plans = waiting.map(({ plan }) => plan)
  const fresh = waiting.length > 0 && (silent || (await someSooner(services, call, plans, notBefore)))
  return (fresh ? waiting.shift() : resting.shift()?.walk) ?? waiting.shift()
}
