import type { SharedStore } from '../../stores/kv/shared-store.ts'
import { attemptQuota, countAttempt, tooManyAttempts } from '../attempts-throttle.ts'

const PER_HOUR = 30
const PER_MINUTE = 10

/** Counts a code that somebody is about to try for an account, over all processes, or refuses it. Of a million codes three
 *  are good at a time: at this rate a guesser who has the password needs years. Only somebody who has the password, or a
 *  session, gets as far as this; whoever changes it has the codes to themselves again. */
export async function countCode(store: Pick<SharedStore, 'admit'>, accountId: string): Promise<void> {
  const subject = `mfa:${accountId}`
  const refused = await countAttempt(store, [
    attemptQuota(subject, PER_HOUR, 'hour'),
    attemptQuota(subject, PER_MINUTE, 'minute'),
  ])
  if (!refused) return
  const message = 'Too many codes of a second factor were tried for this account.'
  throw tooManyAttempts(refused, message, 'too_many_mfa_codes')
}
