import { byWeight, weightInWords } from '../weights.ts'
import type { Strategy } from './strategy.ts'

/** The tag filter is every strategy's; what it leaves is drawn by weight. */
export const tagBasedRouting: Strategy = {
  name: 'tag-based-routing',
  rank: byWeight,
  because: weightInWords,
}
