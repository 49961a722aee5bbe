import type { Deployment, Group } from '../routing/deployment.ts'
import type { Registry } from '../routing/registry.ts'
import type { Call } from './call.ts'
import { fallbackGroups, planFallback } from './fallbacks.ts'
import type { PipelineServices } from './pipeline.ts'
import { everybody, type Plan } from './plan.ts'
import { inChunks, isExpressibleInChat } from './speak.ts'

/** Deployments that have refused to go on from another's words, whatever their operator said of them. */
const refusing = new WeakSet<Deployment>()

export const refusesPrefix = (deployment: Deployment): void => void refusing.add(deployment)

/** A deployment, as a member of the group that it would be asked in. */
export interface RescueTarget {
  readonly deployment: Deployment
  readonly plan: Plan
}

/** Who could finish an answer that `failed` began: of its own group first, then of the groups it falls back to. Nobody is
 *  asked who was asked before in this call. */
export function rescueTargets(services: PipelineServices, call: Call, failed: Deployment): RescueTarget[] {
  const { dialect, mode } = call.endpoint
  if (!call.streamed || !dialect || !someContinue(services.registry)) return []
  if (!isExpressibleInChat(call.request, dialect)) return []
  const own = groupOf(services, call, failed)
  const groups = new Set<Group>([own, ...fallbackGroups(services, 'fallbacks', own)])
  return [...groups]
    .flatMap((group) => {
      const plan = planFallback(services, call, group)
      return plan ? everybody(plan).map((deployment) => ({ deployment, plan })) : []
    })
    .filter(({ deployment }) => deployment.info.supports_assistant_prefix && !refusing.has(deployment))
    .filter(
      ({ deployment }) => deployment !== failed && call.attempts.every((tried) => tried.deployment !== deployment),
    )
    .filter(({ deployment }) => inChunks(deployment, mode) !== undefined)
}

/** The group that it was asked as a member of: the client's own, else a fallback. */
function groupOf({ registry }: PipelineServices, { group }: Call, asked: Deployment): Group {
  if (group.deployments.includes(asked)) return group
  return registry.groups.find(({ name }) => name === asked.modelName) ?? group
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
