import { lookingAs } from './looking-as.ts'
import type { ScopeChoice, Session } from './session.ts'
import { store, useStore } from './store.ts'

/** How the console looks to somebody else. Only what is shown changes: the gateway still answers the person who has signed
 *  in. */
export interface SeenAs {
  readonly session: Session
  /** Lists are limited to it, as the gateway limits those of such a person. */
  readonly scope: ScopeChoice
}

const seen = store<SeenAs | undefined>(undefined)

/** Looks at the console as the holder of a role, until `lookingAs` is empty or the console is reloaded. */
export function lookAs(role: string, as: SeenAs): void {
  seen.set(as)
  lookingAs.set(role)
}

export function useSeenAs(): SeenAs | undefined {
  const as = useStore(seen)
  return useStore(lookingAs) ? as : undefined
}
