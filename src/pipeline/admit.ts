import { GatewayError } from '../lib/errors.ts'
import type { Deployment } from '../routing/deployment.ts'
import type { Admitted, Refused } from '../stores/kv/shared-store.ts'
import type { CallInput } from './call.ts'
import type { PipelineServices } from './pipeline.ts'
import { asCandidate } from './plan.ts'

/** Slots, holds and in-flight marks of a call that is never settled end after this; long calls renew them. */
export const LEASE_SECONDS = 120

/** The one round trip before the upstream: whether this call may run, and where it goes first. */
export async function admit(
  services: PipelineServices,
  input: CallInput,
  call: { readonly id: string; readonly attemptId: string; readonly order: readonly Deployment[] },
): Promise<Admitted> {
  const answer = await services.store.admit({
    callId: call.id,
    attemptId: call.attemptId,
    versions: input.caller.versions,
    quotas: [],
    slots: [],
    budgets: [],
    candidates: call.order.map((deployment) => asCandidate(services, deployment)),
    leaseSeconds: LEASE_SECONDS,
  })
  if (answer.kind === 'refused') throw refusal(answer)
  if (answer.kind === 'stale') throw new Error('a caller without records cannot be stale')
  services.signals.learn(answer.signals)
  return answer
}

function refusal({ scope, reason, resetsAt, now }: Refused): GatewayError {
  if (reason === 'budget') {
    return new GatewayError('budget_exceeded', `Budget exceeded for scope '${scope}'`, { param: scope })
  }
  const retryAfterSeconds = resetsAt === undefined ? 1 : Math.max(1, Math.ceil((resetsAt - now) / 1000))
  return new GatewayError('rate_limited', `Rate limit exceeded for scope '${scope}'`, {
    param: scope,
    code: `${scope}_exceeded`,
    retryAfterSeconds,
  })
}
