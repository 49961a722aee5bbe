import { type Failure, GatewayError } from '../../lib/errors.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import type { Group } from '../../routing/deployment.ts'
import type { Call } from '../call.ts'
import type { Endpoint } from '../endpoint.ts'
import type { PipelineServices } from '../services.ts'
import { type Bounds, type Plan, planGroup } from './plan.ts'

/** The fallback groups of a group in one chain, in order. */
export function fallbackGroups(services: PipelineServices, chain: Failure['chain'], from: Group): Group[] {
  if (!chain) return []
  return services.config.gateway_settings[chain]
    .flatMap((map) => Object.entries(map))
    .filter(([source]) => services.registry.resolve(source)?.name === from.name)
    .flatMap(([, targets]) => targets.map((name) => services.registry.resolve(name)))
    .filter((group) => group !== undefined)
}

/** Plans a fallback group; undefined if no deployment of it fits. */
export function planFallback(services: PipelineServices, call: Call, group: Group): Plan | undefined {
  try {
    return planGroup(services, call.endpoint, call.request, group, call.bounds)
  } catch (error) {
    if (error instanceof GatewayError) return undefined
    throw error
  }
}

/** The plan for a request whose conversation moved to a fallback: the first fallback group that holds the referenced
 *  objects. */
export function planKeeper(
  services: PipelineServices,
  endpoint: Endpoint,
  request: ModelRequest,
  group: Group,
  bounds: Bounds,
): Plan | undefined {
  if (!bounds.ids?.some(({ owner }) => owner?.tenant === bounds.tenant)) return undefined
  const groups = new Set([group])
  for (const from of groups) {
    for (const chain of CHAINS) for (const next of fallbackGroups(services, chain, from)) groups.add(next)
    if (from === group) continue
    try {
      return planGroup(services, endpoint, request, from, bounds)
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
    }
  }
  return undefined
}

const CHAINS = ['fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks'] as const
