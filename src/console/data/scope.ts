import { useSeenAs } from './seen-as.ts'
import { type ScopeChoice, useSession } from './session.ts'
import { keep, kept } from './settings.ts'
import { store, useStore } from './store.ts'

const chosen = store<ScopeChoice>(kept('scope', {}))

export const chooseScope = (choice: ScopeChoice) => {
  keep('scope', choice)
  chosen.set(choice)
}

/** What is chosen, as far as the person belongs to it: the browser may have been somebody else's, or the role may be gone. */
export function useScope(): ScopeChoice {
  const { organizations, teams } = useSession()
  const choice = useStore(chosen)
  const seen = useSeenAs()
  if (seen) return seen.scope
  const places = choice.team_id ? teams : organizations
  return places.some(({ id }) => id === (choice.team_id ?? choice.organization_id)) ? choice : NOWHERE
}

const NOWHERE: ScopeChoice = {}
