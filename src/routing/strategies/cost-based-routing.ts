import { unitCost } from '../../modes/cost.ts'
import { sortedBy } from './sort.ts'
import type { Strategy } from './strategy.ts'

/** Lowest unit cost for the kind of request; an unknown price comes last. */
export const costBasedRouting: Strategy = {
  name: 'cost-based-routing',
  order: (candidates, { random, mode }) =>
    sortedBy(candidates, random, ({ deployment }) => unitCost(mode, deployment.info) ?? Number.POSITIVE_INFINITY),
  because({ deployment }, mode) {
    const cost = unitCost(mode, deployment.info)
    return cost === undefined ? 'of unknown price' : `unit price ${cost}`
  },
}
