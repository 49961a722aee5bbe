import { store } from './store.ts'

type Resolver = (isSamePerson: boolean) => void

/** Resolvers of those that wait for a session; while there are some, the shell shows the sign-in over the page. */
export const waitingForSession = store<readonly Resolver[]>([])

/** Resolves when somebody has signed in again, with whether it is who was signed in before. */
export function signedInAgain(): Promise<boolean> {
  return new Promise((resolve) => waitingForSession.set([...waitingForSession.get(), resolve]))
}

export function sessionOpened(isSamePerson: boolean): void {
  const waiting = waitingForSession.get()
  waitingForSession.set([])
  for (const resolve of waiting) resolve(isSamePerson)
}
