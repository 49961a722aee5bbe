import type { AccountSession } from '../../identity/session-caller.ts'
import { GatewayError } from '../../lib/errors.ts'
import type { Scope } from '../scope.ts'

/** The session of a route that takes sessions of accounts alone. */
export function accountSession(scope: Scope): AccountSession {
  const session = scope.session()
  if (session?.account) return session as AccountSession
  throw new GatewayError('permission', 'A session of the master key belongs to no account.', { code: 'no_account' })
}
