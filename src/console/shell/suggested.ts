import type { Answer } from '../data/client.ts'
import { keep, kept } from '../data/settings.ts'
import { store, useStore } from '../data/store.ts'

const KEPT = 'second-factor-later'

/** The accounts that were asked in this browser, and said: not now. */
const later = store<readonly string[]>(kept(KEPT, []))
const held = store(false)

/** Whether the way in goes on although the session lacks nothing: somebody with a password alone is asked, once, for a
 *  second factor; recovery codes stay until they are saved. */
export function useMoreBeforeConsole(session: Answer<'GET /auth/me'> | undefined): boolean {
  const answered = useStore(later)
  const isHeld = useStore(held)
  if (!session?.authenticated || session.standing !== 'complete' || session.account_id === null) return isHeld
  return isHeld || (session.has_password && !session.mfa_enabled && !answered.includes(session.account_id))
}

export function notNow(accountId: string): void {
  later.set([...later.get(), accountId])
  keep(KEPT, later.get())
}

/** While it shows what is never shown again. */
export const holdGate = (isShown: boolean): void => held.set(isShown)
