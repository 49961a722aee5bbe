import type { Limits, Standing } from '../shared-store.ts'
import { countedQuotasOf, readQuotas } from './quotas.ts'
import type { State } from './state.ts'

/** How far some limits are used. `scripts/standing.ts` implements it in Lua. */
export function standing(state: State, limits: Limits, now: number): Standing {
  return {
    now,
    quotas: readQuotas(state, countedQuotasOf(state, limits.quotas), now),
    taken: limits.slots.map((subject) => state.slots.get(subject)?.count(now) ?? 0),
    budgets: limits.budgets.map((subject) => {
      const known = state.budgets.get(subject)
      if (!known || known.isUnread) return undefined
      return { period: known.period, spentNano: known.spent, heldNano: known.holds.total(now) }
    }),
  }
}
