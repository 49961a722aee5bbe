import { byWeight, describeWeight } from '../weights.ts'
import type { Strategy } from './strategy.ts'

export const weighted: Strategy = {
  name: 'weighted',
  meaning: 'At random in proportion to `weight`; weights of zero last.',
  rank: byWeight,
  because: describeWeight,
}
