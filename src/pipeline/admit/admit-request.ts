import { rateHeaders } from '../../limits/rate-headers.ts'
import { ASKS_NOTHING } from '../../stores/kv/nothing.ts'
import type { Quota } from '../../stores/kv/shared-store.ts'
import type { Caller } from '../caller.ts'
import type { PipelineServices } from '../services.ts'
import { type Asking, decide, LEASE_SECONDS } from './decide.ts'

/** Admits a request that is no model call, and returns its rate-limit headers. */
export async function admitRequest(
  services: PipelineServices,
  { requestId, tokens, ...asking }: Asking & { readonly requestId: string; readonly tokens: number },
): Promise<{ readonly caller: Caller; readonly headers: Record<string, string> }> {
  const counted = ({ quotas }: Caller) => ({ quotas, tokens })
  const { caller, asked, admitted } = await decideWithoutCall(services, asking, requestId, counted)
  return { caller, headers: rateHeaders(asked.quotas, admitted.quotas) }
}

/** The caller as it is now, for what is not even counted: a cached one is compared with the shared store. Throws the refusal
 *  of one that is no longer valid. */
export async function confirmCaller(
  services: PipelineServices,
  { id, ...asking }: Asking & { readonly id: string },
): Promise<Caller> {
  if (asking.caller.versions.length === 0) return asking.caller
  return (await decideWithoutCall(services, asking, id, () => UNCOUNTED)).caller
}

interface Counted {
  readonly quotas: readonly Quota[]
  readonly tokens: number
}

const UNCOUNTED: Counted = { quotas: [], tokens: 0 }

/** Decides a request that holds no budget and needs no deployment. */
function decideWithoutCall(
  services: PipelineServices,
  asking: Asking,
  id: string,
  countedOf: (caller: Caller) => Counted,
) {
  return decide(services, asking, (caller, _seeds, held) => ({
    ...ASKS_NOTHING,
    callId: id,
    attemptId: id,
    ...held,
    ...countedOf(caller),
    leaseSeconds: LEASE_SECONDS,
  }))
}
