import { type Asking, LEASE_SECONDS, refusal } from './admit/decide.ts'
import { isExhausted } from './exhausted.ts'
import type { PipelineServices } from './services.ts'

/** Nobody has it: with it in an admission the store says what it would refuse, and counts nothing. */
const NEVER = { scope: 'never', subject: 'never', limit: 0 }

/** Throws what a call would be refused with before its body is read, where that is likely: the store is asked, so that
 *  nothing is refused that it would let pass. Whoever is not known to be at a limit costs no question. */
export async function refuseEarly(
  { store }: PipelineServices,
  { caller, requestId, tokens }: Asking & { readonly requestId: string; readonly tokens: number },
): Promise<void> {
  if (!isExhausted(caller)) return
  const { quotas, slots, versions } = caller
  const ids = { callId: requestId, attemptId: requestId }
  const nothing = { budgets: [], candidates: [], leaseSeconds: LEASE_SECONDS }
  const answer = await store.admit({ ...ids, ...nothing, versions, quotas, tokens, slots: [...slots, NEVER] })
  if (answer.kind === 'refused' && answer.scope !== NEVER.scope) throw refusal(answer, quotas)
}
