import { ASKS_NOTHING } from '../../stores/kv/nothing.ts'
import type { Caller } from '../caller.ts'
import type { PipelineServices } from '../services.ts'
import { LEASE_SECONDS } from './decide.ts'
import { isExhausted } from './exhausted.ts'
import { refusal } from './refusal.ts'

/** A slot that is always full: an admission containing it is checked but never counted. */
const NEVER = { scope: 'never', subject: 'never', limit: 0 }

/** Throws the refusal that a call would get, before its body is read. Only callers that are known to be at a limit cost
 *  a round trip, and the store decides, so that nothing is refused which it would admit. */
export async function refuseEarly(
  { store }: PipelineServices,
  { caller, requestId, tokens }: { readonly caller: Caller; readonly requestId: string; readonly tokens: number },
): Promise<void> {
  if (!isExhausted(caller)) return
  const { quotas, slots, versions } = caller
  const ids = { callId: requestId, attemptId: requestId }
  const asked = { versions, quotas, tokens, slots: [...slots, NEVER], leaseSeconds: LEASE_SECONDS }
  const answer = await store.admit({ ...ASKS_NOTHING, ...ids, ...asked })
  if (answer.kind === 'refused' && answer.scope !== NEVER.scope) throw refusal(answer, { ...asked, budgets: [] })
}
