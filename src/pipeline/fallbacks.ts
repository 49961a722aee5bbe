import { type Failure, GatewayError } from '../lib/errors.ts'
import type { Group } from '../routing/deployment.ts'
import type { Call } from './call.ts'
import type { PipelineServices } from './pipeline.ts'
import { type Plan, planGroup } from './plan.ts'

/** The groups that a chain leads to from a group, in its order. */
export function fallbackGroups(services: PipelineServices, chain: Failure['chain'], from: Group): Group[] {
  if (!chain) return []
  return services.config.gateway_settings[chain]
    .flatMap((map) => Object.entries(map))
    .filter(([source]) => services.registry.resolve(source)?.name === from.name)
    .flatMap(([, targets]) => targets.map((name) => services.registry.resolve(name)))
    .filter((group) => group !== undefined)
}

/** A fallback without a fitting deployment is no place to go. */
export function planFallback(services: PipelineServices, call: Call, group: Group): Plan | undefined {
  try {
    return planGroup(services, call.endpoint, call.request, group, call.kept)
  } catch (error) {
    if (error instanceof GatewayError) return undefined
    throw error
  }
}
