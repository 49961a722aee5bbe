import type { ScopeChoice } from './scope.ts'
import type { Session } from './session.ts'
import { store } from './store.ts'

/** How the console looks to somebody else, until it is reloaded. Only what is shown changes: the gateway still answers the
 *  person who has signed in, and nothing is written. */
export interface SeenAs {
  /** "Viewer of Search quality". */
  readonly role: string
  readonly session: Session
  /** Lists are limited to it, as the gateway limits those of such a person. */
  readonly scope: ScopeChoice
}

export const seenAs = store<SeenAs | undefined>(undefined)
