import { addressBlock } from '../../lib/address-range.ts'
import { GatewayError } from '../../lib/errors.ts'
import { signedInKey } from '../../stores/kv/keys.ts'
import type { Quota, Refused, SharedStore } from '../../stores/kv/shared-store.ts'
import { emailKey } from '../../stores/sql/people/email-key.ts'

/** A person at one place, in a minute. */
export const ATTEMPTS_HERE = 10
/** One place, for all accounts, in a minute. */
export const ATTEMPTS_FROM_ADDRESS = 60
/** One account, from all places where it was not signed in before, in an hour. */
export const ATTEMPTS_ON_ACCOUNT = 50

/** Of a session, in a minute. */
export const CHANGES = 10
/** Asked for at one place, in a minute. */
export const RESETS_FROM_ADDRESS = 20
/** E-mails to one account, in an hour: all of their links are good. */
export const RESETS_OF_ACCOUNT = 3

const REMEMBERED_SECONDS = 90 * 24 * 3600

/** Limits guesses of passwords, over all processes and before anything is hashed. Accounts that do not exist have the same
 *  limits. The limit of an account over all places does not hold for the places it was signed in from before: those who
 *  guess elsewhere keep nobody out of their own account. */
export interface PasswordThrottle {
  /** Counts an attempt. Throws where there were too many; that one is not counted. */
  admit(email: string, address: string): Promise<void>
  /** Notes that the account was signed in from there. */
  signedIn(email: string, address: string): Promise<void>
  /** Counts a change of the password by a session of the account. Throws where there were too many. */
  change(accountId: string): Promise<void>
  /** Counts a request for an e-mail, and says whether the account is to get one more. Throws where too many came from
   *  there. */
  forgot(email: string, address: string): Promise<boolean>
}

export function passwordThrottle({
  store,
  hash,
}: {
  readonly store: Pick<SharedStore, 'admit' | 'get' | 'put'>
  readonly hash: (text: string) => string
}): PasswordThrottle {
  const count = (quotas: readonly Quota[]) =>
    store.admit({
      callId: 'login',
      attemptId: 'login',
      versions: [],
      quotas,
      tokens: 0,
      slots: [],
      budgets: [],
      candidates: [],
      leaseSeconds: 1,
    })
  const named = (email: string, address: string) => ({ account: hash(emailKey(email)), block: addressBlock(address) })

  return {
    async admit(email, address) {
      const { account, block } = named(email, address)
      const here: Quota[] = [
        quota(`login:address:${block}`, ATTEMPTS_FROM_ADDRESS, 'minute'),
        quota(`login:account:${account}:${block}`, ATTEMPTS_HERE, 'minute'),
      ]
      const everywhere = quota(`login:account:${account}`, ATTEMPTS_ON_ACCOUNT, 'hour')
      const answer = await count([...here, everywhere])
      if (answer.kind !== 'refused') return
      if (answer.subject !== everywhere.subject || (await store.get(signedInKey(account, block))) === undefined)
        throw tooMany(answer)
      const again = await count(here)
      if (again.kind === 'refused') throw tooMany(again)
    },
    async signedIn(email, address) {
      const { account, block } = named(email, address)
      await store.put(signedInKey(account, block), '1', REMEMBERED_SECONDS)
    },
    async change(accountId) {
      const answer = await count([quota(`password:${accountId}`, CHANGES, 'minute')])
      if (answer.kind === 'refused') throw tooMany(answer)
    },
    async forgot(email, address) {
      const { account, block } = named(email, address)
      const here = quota(`reset:address:${block}`, RESETS_FROM_ADDRESS, 'minute')
      const answer = await count([here, quota(`reset:account:${account}`, RESETS_OF_ACCOUNT, 'hour')])
      if (answer.kind !== 'refused') return true
      if (answer.subject === here.subject) throw tooMany(answer)
      // It counts for the place all the same.
      const again = await count([here])
      if (again.kind === 'refused') throw tooMany(again)
      return false
    },
  }
}

function quota(subject: string, limit: number, window: Quota['window']): Quota {
  return { scope: 'login', subject, unit: 'requests', window, limit }
}

function tooMany({ resetsAt, now }: Refused): GatewayError {
  return new GatewayError('rate_limited', 'Too many attempts. Try again later.', {
    code: 'too_many_attempts',
    retryAfterSeconds: resetsAt === undefined ? 1 : Math.max(1, Math.ceil((resetsAt - now) / 1000)),
  })
}
