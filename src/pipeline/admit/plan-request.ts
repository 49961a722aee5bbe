import { GatewayError, withHeaders } from '../../lib/errors.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import type { Group } from '../../routing/deployment.ts'
import type { CacheUse } from '../cache/cache-use.ts'
import { planCache } from '../cache/plan-cache.ts'
import type { Call } from '../call.ts'
import type { CallInput } from '../call-input.ts'
import { type Caller, tenantOf } from '../caller.ts'
import type { Remembering } from '../memory/call-memory.ts'
import { writtenForOthers } from '../memory/remember.ts'
import { hasBudget } from '../plan/affordable.ts'
import { explainedUnfit } from '../plan/explain.ts'
import { planKeeper } from '../plan/fallbacks.ts'
import { modelNotFound } from '../plan/model-not-found.ts'
import { type Bounds, type Plan, planGroup } from '../plan/plan.ts'
import type { Prompted } from '../prompt/with-prompt.ts'
import { type Refusal, unlessMalformed } from '../request/checked.ts'
import type { Written } from '../request/written-request.ts'
import type { PipelineServices } from '../services.ts'
import { type ManagedTools, withoutManagedTools } from '../tools/managed-tools.ts'
import { hasModelBudget } from './budget-holds.ts'

/** A request that was read and completed, before it is planned for a caller. */
export interface ReadRequest extends Remembering {
  /** The request with the messages of its prompt, or why it cannot have them; undefined if it has no prompt. */
  readonly prompted: Prompted | undefined
}

/** A valid request, as the pipeline runs it, and its plan. */
export interface PlannedRequest extends Written {
  readonly error?: never
  /** `key@version` of its prompt; '' if there is none. */
  readonly prompt: string
  readonly plan: Plan
  readonly bounds: Bounds
  /** The managed tools that the request is to be offered. */
  readonly tools: ManagedTools | undefined
  /** The request for one deployment, if deployments get different ones. */
  readonly writtenFor: Call['writtenFor']
  readonly cacheUse: CacheUse | undefined
}

/** Plans a request for a caller. A model that the caller may not call is reported as missing. */
export function planRequest(
  services: PipelineServices,
  input: CallInput,
  { parsed, prompted, ids, memory }: ReadRequest,
  caller: Caller,
): PlannedRequest | Refusal {
  if (parsed.error) return parsed
  const { registry } = services
  const complete = prompted && !prompted.error ? prompted : parsed
  const prepared = withoutManagedTools(registry, input, caller, complete)
  if (prepared?.error) return prepared
  const { request, bytes } = prepared ?? complete
  const group = registry.resolve(request.model)
  if (!group || !caller.mayCall(group)) return { error: modelNotFound(registry, request.model) }
  // Only here: callers who may not call the model must not learn of the prompt of its group.
  if (prompted?.error) return prompted
  const bounds: Bounds = {
    tenant: tenantOf(caller).name,
    ids,
    budgeted: hasBudget(caller),
    restricted: caller.restricted,
    strict: input.strict === true,
    leftOut: hasModelBudget(caller) ? new Set() : undefined,
  }
  const plan = planOrKeeper(services, input, request, group, bounds)
  if ('error' in plan) return plan
  const prompt = prompted?.prompt ?? ''
  const tools = prepared?.tools
  return unlessMalformed(() => {
    const writtenFor = memory && writtenForOthers({ request, bytes }, memory, input.endpoint)
    const cacheUse = planCache(services, input, caller, { request, bytes, plan, bounds, tools })
    return { request, bytes, prompt, plan, bounds, tools, writtenFor, cacheUse }
  })
}

/** The plan of the requested group, else of the fallback group that has the objects which the request references. */
function planOrKeeper(
  services: PipelineServices,
  { endpoint, explain }: CallInput,
  request: ModelRequest,
  group: Group,
  bounds: Bounds,
): Plan | Refusal {
  try {
    return planGroup(services, endpoint, request, group, bounds)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    const keeper = error.failure === 'not_found' && planKeeper(services, endpoint, request, group, bounds)
    if (keeper) return keeper
    return { error: explain ? withHeaders(error, explainedUnfit(services, { endpoint, request }, group)) : error }
  }
}
