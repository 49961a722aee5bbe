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

export const useScope = (): ScopeChoice => useStore(chosen)
