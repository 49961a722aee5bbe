import { byWeight, describeWeight } from '../weights.ts'
import type { Strategy } from './strategy.ts'

/** Random in proportion to weight. The tag filter applies to every strategy. */
export const tagBasedRouting: Strategy = {
  name: 'tag-based-routing',
  rank: byWeight,
  because: describeWeight,
}
