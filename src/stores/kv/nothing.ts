import type { Admission, Settlement } from './shared-store.ts'

/** What an admission may ask for, with nothing of it asked. */
export const ASKS_NOTHING = {
  versions: [],
  quotas: [],
  tokens: 0,
  slots: [],
  budgets: [],
  candidates: [],
} as const satisfies Partial<Admission>

/** What a settlement may tell, with nothing of it told. */
export const TELLS_NOTHING = {
  slots: [],
  budgets: [],
  outcomes: [],
  counters: {},
  entries: [],
} as const satisfies Partial<Settlement>
