import { GatewayError, withHeaders } from '../../lib/errors.ts'
import { rateHeaders } from '../../limits/rate-headers.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import { tokensOfCharacters } from '../../modes/usage.ts'
import type { Admission, Admitted, Quota, Refused } from '../../stores/kv/shared-store.ts'
import type { CacheUse, CallCache } from '../cache/cache-use.ts'
import { lookupOf } from '../cache/lookup.ts'
import { withCacheUse } from '../cache/plan-cache.ts'
import type { Call } from '../call.ts'
import type { CallInput } from '../call-input.ts'
import { type Caller, tenantOf } from '../caller.ts'
import { type KnownIds, knownIds } from '../ids/known-ids.ts'
import { type CallMemory, withMemory } from '../memory/call-memory.ts'
import { writtenForOthers } from '../memory/remember.ts'
import { hasBudget } from '../plan/affordable.ts'
import { explainedUnfit } from '../plan/explain.ts'
import { planKeeper } from '../plan/fallbacks.ts'
import { allDeployments, asCandidate, type Bounds, type Plan, plan } from '../plan/plan.ts'
import { withPrompt } from '../prompt/with-prompt.ts'
import type { Parsed } from '../request/checked.ts'
import { parse } from '../request/parse.ts'
import type { PipelineServices } from '../services.ts'
import { type ManagedTools, withoutManagedTools } from '../tools/managed-tools.ts'
import { budgetsOf, chargedAccounts, costsOf, hasModelBudget, holdsOf, leaveOut } from './budget-holds.ts'
import { decide, type Held, LEASE_SECONDS, type Seeds } from './decide.ts'
import { expecting } from './expected-cost.ts'
import type { AskedBudget, Hold } from './hold.ts'

/** A valid request, as the pipeline runs it, and its plan. */
interface Ready {
  /** The request with the prompt that the call or its group names. */
  readonly request: ModelRequest
  /** What `request` was read from. */
  readonly bytes: Uint8Array
  /** `key@version` of that prompt; '' if there is none. */
  readonly prompt: string
  readonly plan: Plan
  readonly bounds: Bounds
  /** The managed tools that `request` is to be offered. */
  readonly tools: ManagedTools | undefined
  /** The request as each deployment is to be asked it, if deployments are asked differently. */
  readonly writtenFor: Call['writtenFor']
  readonly cacheUse?: CacheUse | undefined
}

/** An admitted call. */
export interface AdmittedCall extends Ready {
  readonly caller: Caller
  readonly admitted: Admitted
  /** The rate-limit headers of the response. */
  readonly rateHeaders: Record<string, string>
  readonly slots: readonly string[]
  readonly budgets: readonly AskedBudget[]
  readonly holds: Hold[]
  readonly cache?: CallCache
  readonly memory: CallMemory | undefined
}

/** A further admission of a call that was counted before. */
export interface Again {
  readonly rateHeaders: Record<string, string>
  /** Whether it looks at the cache once more. */
  readonly looks: boolean
}

/** The ids of a call and of its first attempt. */
export interface CallIds {
  readonly callId: string
  readonly attemptId: string
}

interface AskedAdmission extends Admission {
  readonly budgets: readonly AskedBudget[]
}

/** Admits a call or throws its refusal, in one round trip. Limits are counted for every call, including malformed
 *  requests and unknown models, because they come before routing. */
export async function admitCall(
  services: PipelineServices,
  input: CallInput,
  ids: CallIds,
  again?: Again,
): Promise<AdmittedCall> {
  const read = input.form ? await input.form.head() : parse(input)
  const { parsed: client, naming } = withIds(services, input, read)
  const known = naming && (await naming)
  const recalling = withMemory(services, input, client, known)
  const recalled = recalling instanceof Promise ? await recalling : recalling
  const {
    parsed,
    bytes: joinedBytes,
    ids: named,
    memory,
  } = recalled ?? { parsed: client, bytes: input.bytes, ids: known }
  const whole = joinedBytes === input.bytes ? input : { ...input, bytes: joinedBytes }
  const prompting = parsed.error ? undefined : withPrompt(services, whole, parsed.request, !again)
  const prompted = prompting instanceof Promise ? await prompting : prompting
  const sent = prompted?.bytes ? { ...whole, bytes: prompted.bytes } : whole
  // The caller may be read again during admission, and its permissions with it.
  const planFor = (caller: Caller): Ready | { readonly error: GatewayError } => {
    if (parsed.error) return parsed
    const own = prompted?.request ?? parsed.request
    const prepared = withoutManagedTools(services.registry, sent, caller, own)
    if (prepared?.error) return prepared
    const { request, bytes } = prepared ?? { request: own, bytes: sent.bytes }
    const tools = prepared?.tools
    const prompt = prompted?.prompt ?? ''
    const leftOut = hasModelBudget(caller) ? new Set<string>() : undefined
    const { restricted } = caller
    const strict = input.strict === true
    const bounds = { tenant: tenantOf(caller), ids: named, budgeted: hasBudget(caller), restricted, strict, leftOut }
    const planned = plan(services, input.endpoint, request, caller, bounds)
    // Those who may not call the model are not told of the prompt of its group.
    if (prompted?.error && (!planned.error || planned.group)) return prompted
    const readyFor = (plan: Plan) => {
      const writtenFor = memory && writtenForOthers({ request, bytes }, memory, input.endpoint)
      return { request, bytes, prompt, plan, bounds, tools, writtenFor }
    }
    if (!planned.error) return unlessMalformed(() => readyFor(planned.plan))
    const { error, group } = planned
    const keeper =
      group && error.failure === 'not_found' && planKeeper(services, input.endpoint, request, group, bounds)
    if (keeper) return unlessMalformed(() => readyFor(keeper))
    if (!group || !input.explain) return { error }
    return { error: withHeaders(error, explainedUnfit(services, { ...input, request }, group)) }
  }
  let plannedFor = input.caller
  let ready = withCacheUse(services, input, plannedFor, planFor(plannedFor))
  const ask = (caller: Caller, seeds: Seeds, { versions, confirmedAt }: Held): AskedAdmission => {
    // Planned once for each caller: a plan remembers the models that it does without.
    if (caller !== plannedFor) ready = withCacheUse(services, input, caller, planFor(caller))
    plannedFor = caller
    const { callId, attemptId } = ids
    const { slots } = caller
    const quotas = again ? NO_QUOTAS : caller.quotas
    const tokens = again ? 0 : tokensOf(input)
    const counted = { callId, attemptId, versions, confirmedAt, quotas, tokens, leaseSeconds: LEASE_SECONDS }
    // A call that will not begin must hold nothing, because it is never settled.
    if ('error' in ready) return { ...counted, slots: [], budgets: [], candidates: [] }
    const { preference, group } = ready.plan
    const order = ready.plan.order()
    const accounts = chargedAccounts(services.registry, caller, group.name, order)
    const asked = ready.bytes === input.bytes ? input : { ...input, bytes: ready.bytes }
    const costs = costsOf(services, expecting(services, asked, ready.request), group.name, order)
    return {
      ...counted,
      slots,
      budgets: budgetsOf(accounts, costs, services.clock.now(), seeds),
      candidates: order.map((deployment) => asCandidate(services, deployment, preference)),
      preference,
      cache: ready.cacheUse?.looks && again?.looks !== false ? lookupOf(ready.cacheUse) : undefined,
    }
  }
  // A group may have other models than the one whose budget is spent.
  const doesWithout = (caller: Caller, { reason, subject }: Refused): boolean => {
    if (reason !== 'budget' || 'error' in ready) return false
    const { plan, bounds } = ready
    const { leftOut } = bounds
    const among = { group: plan.group.name, deployments: allDeployments(plan), leftOut }
    return leaveOut(services.registry, caller, subject, among)
  }
  const { caller, asked, admitted } = await decide(services, input, ask, doesWithout)
  services.signals.learn(admitted.signals)
  const headers = again?.rateHeaders ?? rateHeaders(asked.quotas, admitted.quotas)
  if ('error' in ready) throw withHeaders(ready.error, headers)
  const { cached } = admitted
  const reserves = cached?.state !== 'hit' && cached?.state !== 'follow'
  return {
    caller,
    ...ready,
    memory,
    admitted,
    rateHeaders: headers,
    slots: reserves ? asked.slots.map(({ subject }) => subject) : [],
    budgets: asked.budgets,
    holds: reserves ? holdsOf(asked.budgets, admitted.spentNano) : [],
  }
}

const NO_QUOTAS: readonly Quota[] = []

/** The result, or the refusal: reading a long member may reveal that the request is malformed. A call that was admitted
 *  is too late for it, because it holds what nobody would release. */
function unlessMalformed<Made>(make: () => Made): Made | { readonly error: GatewayError } {
  try {
    return make()
  } catch (error) {
    if (error instanceof GatewayError && error.failure === 'invalid_request') return { error }
    throw error
  }
}

/** The request with the objects that it references. Reading those members may reveal that the request is malformed. */
function withIds(
  services: PipelineServices,
  { endpoint, caller }: CallInput,
  parsed: Parsed,
): { readonly parsed: Parsed; readonly naming?: Promise<KnownIds> | undefined } {
  if (parsed.error) return { parsed }
  const named = unlessMalformed(() => ({ naming: knownIds(services, endpoint, parsed.request, tenantOf(caller)) }))
  return 'error' in named ? { parsed: named } : { parsed, ...named }
}

/** The token estimate that the specification prescribes. */
function tokensOf({ endpoint, bytes }: CallInput): number {
  return endpoint.mode.body === 'multipart' ? 1 : tokensOfCharacters(bytes.byteLength)
}
