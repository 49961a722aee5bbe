import type { SharedStore } from '../../stores/kv/shared-store.ts'
import { attemptQuota, countAttempt, tooManyAttempts } from '../attempts-throttle.ts'

const PER_HOUR = 30
const PER_MINUTE = 10

/** Counts an attempt to prove a code for an account, over all processes, or refuses it. Three of a million codes are valid
 *  at a time: at this rate a guesser needs years. An attempt requires the password or a session, so that the owner of the
 *  account locks a guesser out by changing the password. */
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
