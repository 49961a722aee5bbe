import { GatewayError } from '../lib/errors.ts'
import { ASKS_NOTHING } from '../stores/kv/nothing.ts'
import type { Quota, Refused, SharedStore } from '../stores/kv/shared-store.ts'

/** A limit of attempts, over all processes. */
export function attemptQuota(subject: string, limit: number, window: Quota['window']): Quota {
  return { scope: 'attempts', subject, unit: 'requests', window, limit }
}

/** Counts an attempt against all of the quotas, or against none of them: then it answers the refusal. */
export async function countAttempt(
  store: Pick<SharedStore, 'admit'>,
  quotas: readonly Quota[],
): Promise<Refused | undefined> {
  const answer = await store.admit({
    ...ASKS_NOTHING,
    callId: 'attempt',
    attemptId: 'attempt',
    quotas,
    leaseSeconds: 1,
  })
  return answer.kind === 'refused' ? answer : undefined
}

export function tooManyAttempts(
  { resetsAt, now }: Refused,
  message = 'Too many attempts. Try again later.',
  code = 'too_many_attempts',
): GatewayError {
  const retryAfterSeconds = resetsAt === undefined ? 1 : Math.max(1, Math.ceil((resetsAt - now) / 1000))
  return new GatewayError('rate_limited', message, { code, retryAfterSeconds })
}
