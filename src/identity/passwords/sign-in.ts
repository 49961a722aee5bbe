import type { AccountRecord, AccountRecords } from '../../stores/sql/people/account-records.ts'
import type { PasswordThrottle } from './password-throttle.ts'
import type { Passwords } from './passwords.ts'

export interface SignInAttempt {
  readonly email: string
  readonly password: string
  /** Of the second factor. Without one, the session of an account that has a second factor begins unverified. */
  readonly mfaCode: string | undefined
  readonly address: string
}

/** The outcome of an attempt. The reason is for the audit: clients always get the same refusal. */
export type SignInOutcome =
  | {
      readonly kind: 'proved'
      readonly account: AccountRecord
      /** Of the password that was proved, for the session: it may be changed before that begins. */
      readonly passwordHash: string | undefined
      readonly mfaVerified: boolean
    }
  | { readonly kind: 'refused'; readonly reason: SignInRefusal; readonly accountId: string | undefined }

export type SignInRefusal = 'unknown_account' | 'disabled' | 'no_password' | 'wrong_password' | 'wrong_code'

/** Proves a person by e-mail address and password. Every refusal takes the time of a wrong password. Throws where there
 *  were too many attempts, and where a store that it needs is away. */
export type SignIn = (attempt: SignInAttempt) => Promise<SignInOutcome>

export function signIn(options: {
  readonly accounts: Pick<AccountRecords, 'credentials'>
  readonly passwords: Passwords
  readonly throttle: PasswordThrottle
  /** Whether a code is right, which uses it up. */
  readonly proveCode: (accountId: string, code: string) => Promise<boolean>
}): SignIn {
  const { accounts, passwords, throttle, proveCode } = options
  return async ({ email, password, mfaCode, address }) => {
    passwords.requireRoom()
    await throttle.admit(email, address)
    const account = await accounts.credentials(email)
    const usable = account?.state === 'active' ? account.password_hash : null
    const isRight = await passwords.verify(password, usable)
    if (!account || !isRight) return { kind: 'refused', reason: reasonOf(account), accountId: account?.account_id }
    const needsCode = account.mfa_enabled && mfaCode !== undefined
    if (needsCode && !(await proveCode(account.account_id, mfaCode)))
      return { kind: 'refused', reason: 'wrong_code', accountId: account.account_id }
    await throttle.signedIn(email, address)
    const { password_hash: hash, ...record } = account
    return { kind: 'proved', account: record, passwordHash: hash ?? undefined, mfaVerified: needsCode }
  }
}

function reasonOf(account: { readonly state: string; readonly has_password: boolean } | undefined): SignInRefusal {
  if (!account) return 'unknown_account'
  if (account.state !== 'active') return 'disabled'
  return account.has_password ? 'wrong_password' : 'no_password'
}
