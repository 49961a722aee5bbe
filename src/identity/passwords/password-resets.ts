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

/** What brings the token of a reset to who owns the address. */
export interface ResetLinks {
  /** The statement that leaves the link to be sent, for the batch that keeps its token. */
  compose(recipient: string, link: { readonly token: string; readonly expiresAt: Date }): Promise<Query<unknown>>
  /** Sends what waits, beside the request. */
  send(defer: SessionClient['defer']): void
}

/** What became of a request for an e-mail: for the audit, because a client is told nothing of it. */
export interface Asked {
  readonly result: 'sent' | 'unknown_account' | 'disabled' | 'too_many' | 'no_email'
  readonly accountId: string | undefined
}

/** Passwords that are set anew by who reads the account's e-mail. */
export interface PasswordResets {
  /** Sends a link, if the address has an active account. What it takes longer for one that has is done beside the
   *  request. Throws where too many were asked for from there. */
  ask(email: string, client: SessionClient): Promise<Asked>
  /** Makes a token that an administrator hands over, where no e-mail is sent or it is not read. */
  issue(accountId: string): Promise<{ readonly token: string; readonly expiresAt: Date }>
  /** undefined: the token is unknown, used, or too old. */
  pending(token: string): Promise<PendingReset | undefined>
  /** Sets the password and ends all sessions of the account, whose id it answers. Throws the refusal of a token that is
   *  not pending, and of a password that is easy to guess, which uses up nothing. */
  use(token: string, password: string, client: SessionClient): Promise<string>
}

/** An e-mail is begun when the request for it has its answer, which comes no later for it. */
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
    // To the address that the account has, not to the one that was typed: they may differ in more than their case.
    const telling = await by.compose(account.email, { token, expiresAt })
    await records.allow({ token_hash: hash(token), account_id: account.account_id }, telling)
    by.send(defer)
  }

  const pending = async (token: string) => (mayBeToken(token) ? records.pending(hash(token)) : undefined)

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
      const found = await pending(token)
      if (!found) throw invalid()
      const changed = await records.reset(hash(token), await passwords.hash(password, found.email, 'new_password'))
      if (!changed) throw invalid()
      // Sessions of an older version are read again, and found ended.
      const { account_id, version } = changed
      await store.publish({ records: [{ record: accountRecord(account_id), version: Number(version) }], removed: [] })
      // Who reads the e-mail of the account is its owner, wherever they sign in from.
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
