import type { Log } from '../../lib/log.ts'
import type { SharedStore } from '../../stores/kv/shared-store.ts'
import type { AccountRecords } from '../../stores/sql/people/account-records.ts'
import type { PasswordRecords } from '../../stores/sql/people/password-records.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { type ChangePassword, changePassword } from './change-password.ts'
import type { PasswordHasher } from './password-hasher.ts'
import { type PasswordResets, passwordResets, type ResetLinks } from './password-resets.ts'
import { passwordThrottle } from './password-throttle.ts'
import { type Passwords, passwords } from './passwords.ts'
import { type SignIn, signIn } from './sign-in.ts'

export interface PasswordServices {
  readonly passwords: Passwords
  readonly signIn: SignIn
  readonly changePassword: ChangePassword
  readonly passwordResets: PasswordResets
}

/** The services that hash passwords. They share one waiting line. */
export function passwordServices(options: {
  readonly hasher: PasswordHasher
  readonly accounts: Pick<AccountRecords, 'credentials'>
  readonly records: PasswordRecords
  readonly sessions: Sessions
  readonly proveCode: (accountId: string, code: string) => Promise<boolean>
  readonly store: SharedStore
  readonly links: ResetLinks | undefined
  readonly hash: (token: string) => string
  readonly log: Log
  readonly now: () => number
}): PasswordServices {
  const own = passwords(options.hasher)
  const parts = { ...options, passwords: own, throttle: passwordThrottle(options) }
  return {
    passwords: own,
    signIn: signIn(parts),
    changePassword: changePassword(parts),
    passwordResets: passwordResets(parts),
  }
}
