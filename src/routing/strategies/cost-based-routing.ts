import { unitCost } from '../../modes/price/cost.ts'
import type { Strategy } from './strategy.ts'

export const costBasedRouting: Strategy = {
  name: 'cost-based-routing',
  meaning: 'Lowest unit price for the kind of request; an unknown price last.',
  rank: ({ info }, _draw, { mode }) => unitCost(mode, info) ?? Number.POSITIVE_INFINITY,
  because({ info }, { mode }) {
    const cost = unitCost(mode, info)
    return cost === undefined ? 'of unknown price' : `unit price ${cost}`
  },
}
