import type { GatewayError } from '../../lib/errors.ts'
import type { Deployment, Group } from '../../routing/deployment.ts'
import type { Registry } from '../../routing/registry.ts'
import type { Attempt, Call } from '../call.ts'
import type { PipelineServices } from '../services.ts'
import { isExpressibleInChat } from '../translate/chat-of.ts'
import { inChunks } from '../translate/in-chunks.ts'
import { fallbackGroups, planFallback } from './fallbacks.ts'
import { allDeployments, type Plan } from './plan.ts'

/** Deployments that refused an assistant prefix although their operator declared support. */
const refusing = new WeakSet<Deployment>()

export const refusesPrefix = (deployment: Deployment): void => void refusing.add(deployment)

/** A deployment with the plan of the group in which it would be asked. */
export interface ContinuationTarget {
  readonly deployment: Deployment
  readonly plan: Plan
}

/** The deployments that could finish an answer, in order: untried members of its group, or the same deployment if there
 *  are none, then the fallback groups. A deployment that the call already tried is not asked again, except that the
 *  same one may continue its own answer once; after a timeout it comes last. It is known by its id: in each route group it
 *  is another object. */
export function continuationTargets(
  services: PipelineServices,
  call: Call,
  failed: Attempt,
  failure: GatewayError | undefined,
): ContinuationTarget[] {
  const { dialect, mode } = call.endpoint
  if (!call.streamed || !dialect || !someContinue(services.registry)) return []
  if (!isExpressibleInChat(call.request, dialect)) return []
  const { group: own } = failed.plan
  const isAble = ({ deployment }: ContinuationTarget) =>
    deployment.info.supports_assistant_prefix && !refusing.has(deployment) && inChunks(deployment, mode) !== undefined
  const untried = (group: Group): ContinuationTarget[] => {
    const plan = planFallback(services, call, group)
    return (plan ? allDeployments(plan) : [])
      .filter(({ id }) => call.attempts.every((tried) => tried.deployment.id !== id))
      .map((deployment) => ({ deployment, plan: plan as Plan }))
      .filter(isAble)
  }
  const mates = untried(own)
  const begun = call.attempts.filter(
    (one) => one.deployment.id === failed.deployment.id && one.firstTokenAt !== undefined,
  )
  const itself = mates.length === 0 && begun.length < 2 ? [failed].filter(isAble) : []
  const groups = new Set(fallbackGroups(services, 'fallbacks', own))
  groups.delete(own)
  const others = [...groups].flatMap(untried)
  return failure?.failure === 'upstream_timeout' ? [...mates, ...others, ...itself] : [...mates, ...itself, ...others]
}

/** Cached by the list of groups, which the registry replaces on every change. */
const known = new WeakMap<Registry['groups'], boolean>()

/** Whether any deployment supports continuations. If none does, answers are not recorded. */
function someContinue({ groups }: Registry): boolean {
  let some = known.get(groups)
  if (some === undefined) {
    some = groups.some(({ deployments }) => deployments.some(({ info }) => info.supports_assistant_prefix))
    known.set(groups, some)
  }
  return some
}
