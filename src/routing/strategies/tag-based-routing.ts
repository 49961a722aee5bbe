import { byWeight, describeWeight } from '../weights.ts'
import type { Strategy } from './strategy.ts'

export const tagBasedRouting: Strategy = {
  name: 'tag-based-routing',
  meaning: 'The tag filter of all strategies, then as `weighted`.',
  rank: byWeight,
  because: describeWeight,
}
