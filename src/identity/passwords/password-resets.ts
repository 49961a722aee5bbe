import { GatewayError } from '../../lib/errors.ts'
import { describeError, type Log } from '../../lib/log.ts'
import { mayBeToken, newToken } from '../../lib/token.ts'
import type { SharedStore } from '../../stores/kv/shared-store.ts'
import type { AccountRecord, AccountRecords } from '../../stores/sql/people/account-records.ts'
import { type PasswordRecords, type PendingReset, RESET_MINUTES } from '../../stores/sql/people/password-records.ts'
import type { Query } from '../../stores/sql/query.ts'
import { accountRecord } from '../sessions/session-of.ts'
import type { SessionClient } from '../sessions/sessions.ts'
import type { PasswordThrottle } from './password-throttle.ts'
import type { Passwords } from './passwords.ts'

/** Sends the tokens of resets to the addresses of their accounts. */
export interface ResetLinks {
  /** The statement that queues the e-mail, to run with the one that stores the token. */
  compose(recipient: string, link: { readonly token: string; readonly expiresAt: Date }): Promise<Query<unknown>>
  /** Sends queued e-mails, without delaying the request. */
  send(defer: SessionClient['defer']): void
}

/** The outcome of a request for an e-mail, for the audit: clients always get the same answer. */
export interface RequestedReset {
  readonly result: 'sent' | 'unknown_account' | 'disabled' | 'too_many' | 'no_email'
  readonly accountId: string | undefined
}

/** Resets of forgotten passwords, by a link that is sent to the account's address. */
export interface PasswordResets {
  /** Sends a link if the address has an active account, after the answer, so that its time reveals nothing. Throws after
   *  too many requests from one address. */
  ask(email: string, client: SessionClient): Promise<RequestedReset>
  /** Creates a token for an administrator to pass on. */
  issue(accountId: string): Promise<{ readonly token: string; readonly expiresAt: Date }>
  /** undefined: the token is unknown, used, or too old. Throws after too many from one address, as `use` does. */
  pending(token: string, address: string): Promise<PendingReset | undefined>
  /** Sets the password and ends all sessions of the account, whose id it answers. Throws the refusal of a token that is
   *  not pending, and of a password that is easy to guess, which uses up nothing. */
  use(token: string, password: string, client: SessionClient): Promise<string>
}

/** E-mails are composed only after their requests have been answered, so that no answer takes longer for one. */
const AFTER_ANSWER_MS = 150

export function passwordResets(options: {
  readonly accounts: Pick<AccountRecords, 'credentials'>
  readonly records: PasswordRecords
  readonly store: Pick<SharedStore, 'publish'>
  readonly passwords: Passwords
  readonly throttle: PasswordThrottle
  /** undefined: nothing is sent. */
  readonly links: ResetLinks | undefined
  readonly hash: (token: string) => string
  readonly log: Log
  readonly now: () => number
}): PasswordResets {
  const { accounts, records, store, passwords, throttle, links, hash, log, now } = options

  const fresh = () => ({ token: newToken(), expiresAt: new Date(now() + RESET_MINUTES * 60_000) })

  async function send(by: ResetLinks, account: AccountRecord, defer: SessionClient['defer']): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, AFTER_ANSWER_MS))
    const { token, expiresAt } = fresh()
    // To the account's own address, not the typed one: they may differ in more than case.
    const telling = await by.compose(account.email, { token, expiresAt })
    await records.allow({ token_hash: hash(token), account_id: account.account_id }, telling)
    by.send(defer)
  }

  async function pending(token: string, address: string): Promise<PendingReset | undefined> {
    await throttle.link(address)
    return mayBeToken(token) ? records.pending(hash(token)) : undefined
  }

  return {
    pending,
    async ask(email, { address, defer }) {
      const isOne = await throttle.forgot(email, address)
      const account = await accounts.credentials(email)
      const accountId = account?.account_id
      if (!account) return { result: 'unknown_account', accountId }
      if (account.state !== 'active') return { result: 'disabled', accountId }
      if (!links) return { result: 'no_email', accountId }
      if (!isOne) return { result: 'too_many', accountId }
      const failed = (error: unknown) => log.error('password_reset.failed', { error: describeError(error) })
      defer(send(links, account, defer).catch(failed))
      return { result: 'sent', accountId }
    },
    async issue(accountId) {
      const made = fresh()
      await records.allow({ token_hash: hash(made.token), account_id: accountId })
      return made
    },
    async use(token, password, { address }) {
      const found = await pending(token, address)
      if (!found) throw invalid()
      const changed = await records.reset(hash(token), await passwords.hash(password, found.email, 'new_password'))
      if (!changed) throw invalid()
      // The new version makes processes read the account's sessions again, which have ended.
      const { account_id, version } = changed
      await store.publish({ records: [{ record: accountRecord(account_id), version: Number(version) }], removed: [] })
      // The token proves the owner: the throttle trusts this address from now on.
      await throttle.signedIn(changed.email, address).catch(() => {})
      return account_id
    },
  }
}

function invalid(): GatewayError {
  return new GatewayError('invalid_request', 'The link has been used, or is too old. Ask for another one.', {
    param: 'token',
    code: 'reset_token_invalid',
  })
}
