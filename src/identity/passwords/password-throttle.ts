import { addressBlock } from '../../lib/addresses/address-range.ts'
import { signedInKey } from '../../stores/kv/keys.ts'
import type { Quota, SharedStore } from '../../stores/kv/shared-store.ts'
import { emailKey } from '../../stores/sql/people/email-key.ts'
import { attemptQuota, countAttempt, tooManyAttempts } from '../attempts-throttle.ts'

/** Attempts on one account from one address, in a minute. */
const ATTEMPTS_HERE = 10
/** Attempts from one address on all accounts, in a minute. */
const ATTEMPTS_FROM_ADDRESS = 60
/** Attempts on one account from all addresses that it has not signed in from, in an hour. */
const ATTEMPTS_ON_ACCOUNT = 50

/** Changes of the password by one session, in a minute. */
const CHANGES = 10
/** Requests for a reset from one address, in a minute. */
const RESETS_FROM_ADDRESS = 20
/** Inspections and uses of links from one address, in a minute. */
const LINKS_FROM_ADDRESS = 60
/** E-mails to one account, in an hour. All of their links are valid. */
const RESETS_OF_ACCOUNT = 3

const REMEMBERED_SECONDS = 90 * 24 * 3600

/** Limits guesses of passwords, over all processes and before anything is hashed. Accounts that do not exist have the
 *  same limits. The limit of an account over all addresses does not apply to addresses from which it has signed in
 *  before: guesses from elsewhere must not lock out the owner. */
export interface PasswordThrottle {
  /** Counts an attempt. Throws where there were too many; that one is not counted. */
  admit(email: string, address: string): Promise<void>
  /** Notes a sign-in of the account from the address. */
  signedIn(email: string, address: string): Promise<void>
  /** Counts a change of the password by a session of the account. Throws where there were too many. */
  change(accountId: string): Promise<void>
  /** Counts a request for an e-mail; resolves with whether the account may get one more. Throws after too many from the
   *  address. */
  forgot(email: string, address: string): Promise<boolean>
  /** Counts an inspection or a use of a link. Throws after too many from the address. */
  link(address: string): Promise<void>
}

export function passwordThrottle({
  store,
  hash,
}: {
  readonly store: Pick<SharedStore, 'admit' | 'get' | 'put'>
  readonly hash: (text: string) => string
}): PasswordThrottle {
  const count = (quotas: readonly Quota[]) => countAttempt(store, quotas)
  const named = (email: string, address: string) => ({ account: hash(emailKey(email)), block: addressBlock(address) })

  return {
    async admit(email, address) {
      const { account, block } = named(email, address)
      const here: Quota[] = [
        attemptQuota(`login:address:${block}`, ATTEMPTS_FROM_ADDRESS, 'minute'),
        attemptQuota(`login:account:${account}:${block}`, ATTEMPTS_HERE, 'minute'),
      ]
      const everywhere = attemptQuota(`login:account:${account}`, ATTEMPTS_ON_ACCOUNT, 'hour')
      const refused = await count([...here, everywhere])
      if (!refused) return
      if (refused.subject !== everywhere.subject || (await store.get(signedInKey(account, block))) === undefined)
        throw tooManyAttempts(refused)
      const again = await count(here)
      if (again) throw tooManyAttempts(again)
    },
    async signedIn(email, address) {
      const { account, block } = named(email, address)
      await store.put(signedInKey(account, block), '1', REMEMBERED_SECONDS)
    },
    async change(accountId) {
      const refused = await count([attemptQuota(`password:${accountId}`, CHANGES, 'minute')])
      if (refused) throw tooManyAttempts(refused)
    },
    async forgot(email, address) {
      const { account, block } = named(email, address)
      const here = attemptQuota(`reset:address:${block}`, RESETS_FROM_ADDRESS, 'minute')
      const refused = await count([here, attemptQuota(`reset:account:${account}`, RESETS_OF_ACCOUNT, 'hour')])
      if (!refused) return true
      if (refused.subject === here.subject) throw tooManyAttempts(refused)
      // Refused for the account alone, nothing was counted: the address is counted by itself.
      const again = await count([here])
      if (again) throw tooManyAttempts(again)
      return false
    },
    async link(address) {
      const refused = await count([attemptQuota(`reset-link:${addressBlock(address)}`, LINKS_FROM_ADDRESS, 'minute')])
      if (refused) throw tooManyAttempts(refused)
    },
  }
}
