import { store } from './store.ts'

/** Resolvers of those that wait for a session; while there are some, the shell shows the sign-in over the page. */
export const waitingForSession = store<readonly (() => void)[]>([])

/** Resolves when somebody has signed in again. */
export function signedInAgain(): Promise<void> {
  return new Promise((resolve) => waitingForSession.set([...waitingForSession.get(), resolve]))
}

export function sessionOpened(): void {
  const waiting = waitingForSession.get()
  waitingForSession.set([])
  for (const resolve of waiting) resolve()
}
