import { weightedOrder, weightInWords } from './sort.ts'
import type { Strategy } from './strategy.ts'

/** The tag filter is every strategy's; what it leaves is drawn by weight. */
export const tagBasedRouting: Strategy = {
  name: 'tag-based-routing',
  order: (candidates, { random }) => weightedOrder(candidates, random),
  because: weightInWords,
}
