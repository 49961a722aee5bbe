import type { GatewayError } from '../../lib/errors.ts'
import type { Deployment, Group } from '../../routing/deployment.ts'
import type { Registry } from '../../routing/registry.ts'
import type { Attempt, Call } from '../call.ts'
import type { PipelineServices } from '../services.ts'
import { inChunks, isExpressibleInChat } from '../translate/translator.ts'
import { fallbackGroups, planFallback } from './fallbacks.ts'
import { allDeployments, type Plan } from './plan.ts'

/** Deployments that have refused to go on from another's words, whatever their operator said of them. */
const refusing = new WeakSet<Deployment>()

export const refusesPrefix = (deployment: Deployment): void => void refusing.add(deployment)

/** A deployment, as a member of the group that it would be asked in. */
export interface ContinuationTarget {
  readonly deployment: Deployment
  readonly plan: Plan
}

/** Who could finish an answer that an attempt began: others of its group, or the same deployment where there are none, then
 *  the groups it falls back to. Nobody else is asked who was asked before in this call, and the same one goes on with its
 *  own answer once; after silence when nobody else is left. */
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
      .filter((deployment) => call.attempts.every((tried) => tried.deployment !== deployment))
      .map((deployment) => ({ deployment, plan: plan as Plan }))
      .filter(isAble)
  }
  const mates = untried(own)
  const begun = call.attempts.filter((one) => one.deployment === failed.deployment && one.firstTokenAt !== undefined)
  const itself = mates.length === 0 && begun.length < 2 ? [failed].filter(isAble) : []
  const groups = new Set(fallbackGroups(services, 'fallbacks', own))
  groups.delete(own)
  const others = [...groups].flatMap(untried)
  return failure?.failure === 'upstream_timeout' ? [...mates, ...others, ...itself] : [...mates, ...itself, ...others]
}

/** By the list of groups, which is another one whenever the registry has changed. */
const known = new WeakMap<Registry['groups'], boolean>()

/** Where nobody can go on, nothing is remembered of any answer. */
function someContinue({ groups }: Registry): boolean {
  let some = known.get(groups)
  if (some === undefined) {
    some = groups.some(({ deployments }) => deployments.some(({ info }) => info.supports_assistant_prefix))
    known.set(groups, some)
  }
  return some
}
