import { GatewayError } from '../../lib/errors.ts'
import type { Quota, SharedStore } from '../../stores/kv/shared-store.ts'

const PER_HOUR = 30
const PER_MINUTE = 10

const NOTHING = { versions: [], tokens: 0, slots: [], budgets: [], candidates: [], leaseSeconds: 1 }

/** Counts a code that somebody is about to try for an account, over all processes, or refuses it. Of a million codes three
 *  are good at a time: at this rate a guesser who has the password needs years. Only somebody who has the password, or a
 *  session, gets as far as this; whoever changes it has the codes to themselves again. */
export async function countCode(store: Pick<SharedStore, 'admit'>, accountId: string): Promise<void> {
  const quota = { scope: 'mfa_codes', subject: `mfa:${accountId}`, unit: 'requests' } as const
  const quotas: Quota[] = [
    { ...quota, window: 'hour', limit: PER_HOUR },
    { ...quota, window: 'minute', limit: PER_MINUTE },
  ]
  const answer = await store.admit({ callId: 'mfa', attemptId: 'mfa', ...NOTHING, quotas })
  if (answer.kind !== 'refused') return
  const { resetsAt = answer.now + 1000, now } = answer
  throw new GatewayError('rate_limited', 'Too many codes of a second factor were tried for this account.', {
    code: 'too_many_mfa_codes',
    retryAfterSeconds: Math.max(1, Math.ceil((resetsAt - now) / 1000)),
  })
}
