import { type Failure, type FailureName, GatewayError } from '../../lib/errors.ts'
import { holdFallback } from '../admit/hold-fallback.ts'
import type { Call } from '../call.ts'
import { departure } from '../client.ts'
import { fallbackGroups, planFallback } from '../plan/fallbacks.ts'
import type { Plan } from '../plan/plan.ts'
import type { PipelineServices } from '../services.ts'
import type { Committed } from './attempt.ts'
import { earlyProbe, nobodyFree } from './early-probe.ts'
import { ask } from './hedge.ts'
import { settleEnded } from './settle-ended.ts'
import { someSooner } from './some-sooner.ts'
import { bySoonest, type Rest, walkGroup } from './walk-group.ts'

const NOBODY_FREE: readonly FailureName[] = ['no_healthy_deployment', 'no_capacity']

/** A group on the way through its deployments. */
interface Walk {
  readonly plan: Plan
  readonly steps: AsyncGenerator<Rest, Committed, void>
}

/** One that rests before it asks a deployment again. */
interface Resting extends Walk {
  readonly rest: Rest
}

/** Walks deployments until one commits: the group's own in the strategy's order, with retries, then the groups of the
 *  chain that fits the failure, each group once. Who was silent is asked again when all of them have failed, and who wants
 *  to be left alone not while somebody else would answer sooner. When nobody is left, throws the last failure: of those
 *  who were asked, where anybody was. */
export async function failover(services: PipelineServices, call: Call, first: Plan): Promise<Committed> {
  const walkOf = (plan: Plan): Walk => ({ plan, steps: walkGroup(services, call, plan) })
  const waiting: Walk[] = []
  const resting: Resting[] = []
  let visited: Set<string> | undefined
  let failure: GatewayError | undefined

  for (let walk: Walk | undefined = walkOf(first); walk; walk = await nextOf(services, call, waiting, resting)) {
    const { plan, steps } = walk
    const again = call.plans.includes(plan)
    if (!again) call.plans.push(plan)
    const { servedGroup } = call
    const attempts = call.attempts.length
    let chain: Failure['chain']
    try {
      if (!again && plan !== first) await holdFallback(services, call, plan, plan.order())
      call.servedGroup = plan.group.name
      const { done, value } = await steps.next()
      if (done) return value
      resting.push({ plan, steps, rest: value })
      throw value.failure
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
      if (!askedNobody && chain !== 'fallbacks') waiting.length = resting.length = 0
    }
    if (performance.now() >= call.deadline || call.form?.raw.repeatable === false) break
    visited ??= new Set([first.group.name])
    for (const group of fallbackGroups(services, chain, plan.group)) {
      if (visited.has(group.name)) continue
      visited.add(group.name)
      const fallback = planFallback(services, call, group)
      if (fallback) waiting.push(walkOf(fallback))
    }
    if (waiting.length + resting.length > 0) settleEnded(services, call)
  }
  if (call.attempts.length === 0 && failure && NOBODY_FREE.includes(failure.failure)) {
    const probe = failure.failure === 'no_healthy_deployment' ? await earlyProbe(services, call) : undefined
    if (probe) return ask(services, call, probe.plan, probe.started, async () => undefined)
    // By the name that was asked for: a fallback may be none that the caller knows.
    throw nobodyFree(services, call.plans)
  }
  throw failure ?? new GatewayError('internal', 'No attempt was made.')
}

/** Whose turn it is: a group that was not asked yet, unless one that rests would be there sooner. */
async function nextOf(
  services: PipelineServices,
  call: Call,
  waiting: Walk[],
  resting: Resting[],
): Promise<Walk | undefined> {
  const [soonest] = resting.sort((a, b) => bySoonest(a.rest.next, b.rest.next))
  const { silent, notBefore } = soonest?.rest.next ?? { silent: true, notBefore: 0 }
  const plans = waiting.map(({ plan }) => plan)
  const fresh = waiting.length > 0 && (silent || (await someSooner(services, call, plans, notBefore)))
  return (fresh ? waiting.shift() : resting.shift()) ?? waiting.shift()
}
