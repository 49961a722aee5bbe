import type { Answer } from '../data/client.ts'
import { keep, kept } from '../data/settings.ts'
import { store, useStore } from '../data/store.ts'

const KEPT = 'second-factor-later'

/** The accounts that have declined in this browser. */
const later = store<readonly string[]>(kept(KEPT, []))
const held = store(false)
const isBusy = store(false)

/** Whether the way in goes on although the session lacks nothing: somebody with a password alone is asked, once, for a
 *  second factor; recovery codes stay until they are saved. */
export function useMoreBeforeConsole(session: Answer<'GET /auth/me'> | undefined): boolean {
  const answered = useStore(later)
  const isHeld = useStore(held)
  const isAskedLater = useStore(isBusy)
  if (!session?.authenticated || session.standing !== 'complete' || session.account_id === null) return isHeld
  return (
    isHeld || (session.has_password && !session.mfa_enabled && !isAskedLater && !answered.includes(session.account_id))
  )
}

/** Does not ask on this visit: the first administrator continues with a first call. */
export const askLater = (): void => isBusy.set(true)

export function notNow(accountId: string): void {
  later.set([...later.get(), accountId])
  keep(KEPT, later.get())
}

/** While it shows what is never shown again. */
export const holdGate = (isShown: boolean): void => held.set(isShown)
