import { store } from './store.ts'

/** Whose page it is; '' until somebody has signed in. What it asks is asked for that account alone, lest it be done or
 *  answered in the name of somebody else who has signed in in another tab. */
export const personOfPage = store('')

export const personOf = (of: { readonly account_id: string | null }): string => of.account_id ?? 'master_key'

/** What waits for a session, if anything does: the shell shows the sign-in over the page meanwhile. */
export const waitingForSession = store<PromiseWithResolvers<void> | undefined>(undefined)

/** Resolves when somebody has signed in again. */
export function signedInAgain(): Promise<void> {
  const waiting = waitingForSession.get() ?? Promise.withResolvers<void>()
  waitingForSession.set(waiting)
  return waiting.promise
}

export function sessionOpened(): void {
  waitingForSession.get()?.resolve()
  waitingForSession.set(undefined)
}
