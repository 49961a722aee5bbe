import { isSession } from '../../identity/session-caller.ts'
import type { Scope } from '../scope.ts'

/** The author of a version: an account, a key, or `master_key`. */
export function makerOf({ caller }: Pick<Scope, 'caller'>): string {
  const by = caller()
  return (isSession(by) ? by.session.account?.accountId : by.keyId) ?? 'master_key'
}
