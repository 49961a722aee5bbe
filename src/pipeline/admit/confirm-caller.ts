import type { Caller } from '../caller.ts'
import type { PipelineServices } from '../services.ts'
import { type Asking, decide, LEASE_SECONDS } from './decide.ts'

/** The caller as it is now, for what is neither counted nor a call: a cached one is compared with the shared store. Throws
 *  the refusal of one that is no longer valid. */
export async function confirmCaller(
  services: PipelineServices,
  { id, ...asking }: Asking & { readonly id: string },
): Promise<Caller> {
  if (asking.caller.versions.length === 0) return asking.caller
  const nothing = { quotas: [], tokens: 0, slots: [], budgets: [], candidates: [], leaseSeconds: LEASE_SECONDS }
  const { caller } = await decide(services, asking, (_caller, _seeds, held) => ({
    callId: id,
    attemptId: id,
    ...held,
    ...nothing,
  }))
  return caller
}
