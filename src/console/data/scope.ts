import { seenAs } from './seen-as.ts'
import { useSession } from './session.ts'
import { keep, kept } from './settings.ts'
import { store, useStore } from './store.ts'

/** What the lists of the console are limited to: everything, an organization, or a team. */
export interface ScopeChoice {
  readonly organization_id?: string
  readonly team_id?: string
}

const chosen = store<ScopeChoice>(kept('scope', {}))

export const chooseScope = (choice: ScopeChoice) => {
  keep('scope', choice)
  chosen.set(choice)
}

/** What is chosen, as far as the person belongs to it: the browser may have been somebody else's, or the role may be gone. */
export function useScope(): ScopeChoice {
  const { organizations, teams } = useSession()
  const choice = useStore(chosen)
  const seen = useStore(seenAs)
  if (seen) return seen.scope
  const places = choice.team_id ? teams : organizations
  return places.some(({ id }) => id === (choice.team_id ?? choice.organization_id)) ? choice : NOWHERE
}

const NOWHERE: ScopeChoice = {}
