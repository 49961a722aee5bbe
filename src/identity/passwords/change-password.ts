import { GatewayError } from '../../lib/errors.ts'
import type { AccountRecords } from '../../stores/sql/people/account-records.ts'
import type { PasswordRecords } from '../../stores/sql/people/password-records.ts'
import { refusal } from '../refusal.ts'
import type { AccountSession } from '../session-caller.ts'
import type { OpenedSession, SessionClient, Sessions } from '../sessions/sessions.ts'
import { normalized } from './password-rules.ts'
import type { PasswordThrottle } from './password-throttle.ts'
import type { Passwords } from './passwords.ts'

/** Changes the password of a session's account, ends the account's other sessions, and gives this one a new token.
 *  Throws the refusal. */
export type ChangePassword = (
  session: AccountSession,
  given: { readonly current: string; readonly next: string },
  client: SessionClient,
) => Promise<OpenedSession>

export function changePassword(options: {
  readonly accounts: Pick<AccountRecords, 'credentials'>
  readonly records: Pick<PasswordRecords, 'changing'>
  readonly sessions: Sessions
  readonly passwords: Passwords
  readonly throttle: PasswordThrottle
}): ChangePassword {
  const { accounts, records, sessions, passwords, throttle } = options
  return async ({ sessionId, account: { accountId, email }, method, mfaVerified }, { current, next }, client) => {
    await throttle.change(accountId)
    const account = await accounts.credentials(email)
    const from = account?.account_id === accountId ? account.password_hash : null
    if (from === null) throw refused('no_password', 'The account has no password yet. Set one by a password reset.')
    if (!(await passwords.verify(current, from)))
      throw refused('wrong_password', 'This is not the current password.', 'current_password')
    if (normalized(current) === normalized(next))
      throw refused('password_unchanged', 'This is the current password.', 'new_password')
    const to = await passwords.hash(next, email, 'new_password')
    const given = records.changing({ accountId, from, to }, sessionId)
    const opened = await sessions.open({ accountId, method, mfaVerified, replaces: sessionId, given }, client)
    if (opened) return opened
    throw refusal('session_ended', 'The password or the session was changed meanwhile. Sign in again.')
  }
}

function refused(code: string, message: string, param?: string) {
  return new GatewayError('invalid_request', message, { code, ...(param === undefined ? {} : { param }) })
}
