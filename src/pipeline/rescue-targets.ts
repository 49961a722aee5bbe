import type { Deployment, Group } from '../routing/deployment.ts'
import type { Registry } from '../routing/registry.ts'
import type { Call } from './call.ts'
import { fallbackGroups, planFallback } from './fallbacks.ts'
import type { PipelineServices } from './pipeline.ts'
import { inChunks } from './speak.ts'

/** Deployments that have refused to go on from another's words, whatever their operator said of them. */
const refusing = new WeakSet<Deployment>()

export const refusesPrefix = (deployment: Deployment): void => void refusing.add(deployment)

/** Who could finish an answer that `failed` began: of its own group first, then of the groups it falls back to. Nobody is
 *  asked who was asked before in this call. */
export function rescueTargets(services: PipelineServices, call: Call, failed: Deployment): Deployment[] {
  const { dialect, mode } = call.endpoint
  if (!call.streamed || !dialect || !someContinue(services.registry)) return []
  const own = services.registry.groups.find(({ name }) => name === failed.modelName) ?? call.group
  const groups = new Set<Group>([own, ...fallbackGroups(services, 'fallbacks', own)])
  return [...groups]
    .flatMap((group) => planFallback(services, call, group)?.order() ?? [])
    .filter((deployment) => deployment.info.supports_assistant_prefix && !refusing.has(deployment))
    .filter((deployment) => deployment !== failed && call.attempts.every((tried) => tried.deployment !== deployment))
    .filter((deployment) => inChunks(deployment, mode) !== undefined)
}

const known = new WeakMap<Registry, boolean>()

/** Where nobody can go on, nothing is remembered of any answer. */
function someContinue(registry: Registry): boolean {
  let some = known.get(registry)
  if (some === undefined) {
    some = registry.groups.some(({ deployments }) => deployments.some(({ info }) => info.supports_assistant_prefix))
    known.set(registry, some)
  }
  return some
}
