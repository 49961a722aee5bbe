import { rateHeaders } from '../../limits/rate-headers.ts'
import type { Caller } from '../caller.ts'
import type { PipelineServices } from '../services.ts'
import { type Asking, decide, LEASE_SECONDS } from './decide.ts'

/** Admits a request that is no model call, and returns its rate-limit headers. */
export async function admitRequest(
  services: PipelineServices,
  { requestId, tokens, ...asking }: Asking & { readonly requestId: string; readonly tokens: number },
): Promise<{ readonly caller: Caller; readonly headers: Record<string, string> }> {
  const nothing = { slots: [], budgets: [], candidates: [], leaseSeconds: LEASE_SECONDS }
  const decision = await decide(services, asking, ({ quotas }, _seeds, held) => ({
    callId: requestId,
    attemptId: requestId,
    ...held,
    quotas,
    tokens,
    ...nothing,
  }))
  return { caller: decision.caller, headers: rateHeaders(decision.asked.quotas, decision.admitted.quotas) }
}
