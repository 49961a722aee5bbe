import { after } from '../../lib/after.ts'
import { withHeaders } from '../../lib/errors.ts'
import { rateHeaders } from '../../limits/rate-headers.ts'
import { tokensOfCharacters } from '../../modes/usage.ts'
import type { Admission, Admitted, Quota, Refused } from '../../stores/kv/shared-store.ts'
import type { CallCache } from '../cache/cache-use.ts'
import { lookupOf } from '../cache/lookup.ts'
import type { CallInput } from '../call-input.ts'
import { type Caller, tenantOf } from '../caller.ts'
import { type KnownIds, knownIds } from '../ids/known-ids.ts'
import { type CallMemory, withMemory } from '../memory/call-memory.ts'
import { asCandidate } from '../plan/candidate.ts'
import { allDeployments } from '../plan/plan.ts'
import { withPrompt } from '../prompt/with-prompt.ts'
import { type Parsed, unlessMalformed } from '../request/checked.ts'
import { parse } from '../request/parse.ts'
import type { PipelineServices } from '../services.ts'
import { budgetsOf, chargedAccounts, costsOf, holdsOf, leaveOut } from './budget-holds.ts'
import { decide, type HeldRecords, LEASE_SECONDS, type Seeds } from './decide.ts'
import { expecting } from './expected-cost.ts'
import type { AskedBudget, Hold } from './hold.ts'
import { type PlannedRequest, planRequest, type ReadRequest } from './plan-request.ts'

/** An admitted call. */
export interface AdmittedCall extends PlannedRequest {
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

/** Admits a call or throws its refusal, in one round trip; at once where all that decides it is in this process. Limits are
 *  counted for every call, including malformed requests and unknown models, because they come before routing. */
export function admitCall(
  services: PipelineServices,
  input: CallInput,
  ids: CallIds,
  again?: Again,
): AdmittedCall | Promise<AdmittedCall> {
  return after(readRequest(services, input, again !== undefined), (read) =>
    admitRead(services, input, ids, read, again),
  )
}

/** Reads a request and completes it by what it refers to. */
function readRequest(
  services: PipelineServices,
  input: CallInput,
  isAgain: boolean,
): ReadRequest | Promise<ReadRequest> {
  return after(input.form ? input.form.head() : parse(input), (sent) => {
    const { parsed: client, naming } = withIds(services, input, sent)
    return after(naming, (known) =>
      after(withMemory(services, input, client, known), ({ parsed, ids, memory }) =>
        after(parsed.error ? undefined : withPrompt(services, input, parsed, isAgain), (prompted) => {
          return { parsed, ids, memory, prompted }
        }),
      ),
    )
  })
}

function admitRead(
  services: PipelineServices,
  input: CallInput,
  { callId, attemptId }: CallIds,
  read: ReadRequest,
  again: Again | undefined,
): AdmittedCall | Promise<AdmittedCall> {
  let plannedFor = input.caller
  let planned = planRequest(services, input, read, plannedFor)
  const ask = (caller: Caller, seeds: Seeds, { versions, confirmedAt }: HeldRecords): AskedAdmission => {
    // Planned once for each caller: its permissions may have changed, and a plan remembers the models that it does without.
    if (caller !== plannedFor) planned = planRequest(services, input, read, caller)
    plannedFor = caller
    const quotas = again ? NO_QUOTAS : caller.quotas
    const tokens = again ? 0 : tokensOf(input)
    const counted = { callId, attemptId, versions, confirmedAt, quotas, tokens, leaseSeconds: LEASE_SECONDS }
    // A call that will not begin must hold nothing, because it is never settled.
    if (planned.error) return { ...counted, slots: [], budgets: [], candidates: [] }
    const { plan, request, bytes, cacheUse } = planned
    const { preference, group } = plan
    const order = plan.order()
    const accounts = chargedAccounts(services.registry, caller, group.name, order)
    const asked = bytes === input.bytes ? input : { ...input, bytes }
    const costs = costsOf(services, expecting(services, asked, request), group.name, order)
    return {
      ...counted,
      slots: caller.slots,
      budgets: budgetsOf(accounts, costs, services.storeClock.now(), seeds),
      candidates: order.map((deployment) => asCandidate(services, deployment, preference)),
      preference,
      cache: cacheUse?.looks && again?.looks !== false ? lookupOf(cacheUse) : undefined,
    }
  }
  // A group may have other models than the one whose budget is spent.
  const doesWithout = (caller: Caller, { reason, subject }: Refused): boolean => {
    if (reason !== 'budget' || planned.error) return false
    const { plan, bounds } = planned
    const { leftOut } = bounds
    const among = { group: plan.group.name, deployments: allDeployments(plan), leftOut }
    return leaveOut(services.registry, caller, subject, among)
  }
  return after(decide(services, input, ask, doesWithout), ({ caller, asked, admitted }) => {
    services.signals.learn(admitted.signals)
    const headers = again?.rateHeaders ?? rateHeaders(asked.quotas, admitted.quotas)
    if (planned.error) throw withHeaders(planned.error, headers)
    const { cached } = admitted
    const reserves = cached?.state !== 'hit' && cached?.state !== 'follow'
    const { request, bytes, prompt, plan, bounds, tools, writtenFor, cacheUse } = planned
    return {
      caller,
      request,
      bytes,
      prompt,
      plan,
      bounds,
      tools,
      writtenFor,
      cacheUse,
      memory: read.memory,
      admitted,
      rateHeaders: headers,
      slots: reserves ? asked.slots.map(({ subject }) => subject) : [],
      budgets: asked.budgets,
      holds: reserves ? holdsOf(asked.budgets, admitted.spentNano) : [],
    }
  })
}

const NO_QUOTAS: readonly Quota[] = []

/** The request with the objects that it references. Reading those members may reveal that the request is malformed. */
function withIds(
  services: PipelineServices,
  { endpoint, caller }: CallInput,
  parsed: Parsed,
): { readonly parsed: Parsed; readonly naming?: Promise<KnownIds> | undefined } {
  if (parsed.error) return { parsed }
  const naming = unlessMalformed(() => knownIds(services, endpoint, parsed.request, tenantOf(caller)))
  return naming && 'error' in naming ? { parsed: naming } : { parsed, naming }
}

/** The token estimate that the specification prescribes. */
function tokensOf({ endpoint, bytes }: CallInput): number {
  return endpoint.mode.body === 'multipart' ? 1 : tokensOfCharacters(bytes.byteLength)
}
