import { byWeight, describeWeight } from '../weights.ts'
import type { Strategy } from './strategy.ts'

export const tagBasedRouting: Strategy = {
  name: 'tag-based-routing',
  meaning: 'As `weighted`. The tags of a request restrict it under every strategy.',
  rank: byWeight,
  because: describeWeight,
}
