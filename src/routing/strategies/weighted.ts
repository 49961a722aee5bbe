import { byWeight, describeWeight } from '../weights.ts'
import type { Strategy } from './strategy.ts'

export const weighted: Strategy = {
  name: 'weighted',
  meaning: 'At random by `weight`: 3 gets three times the calls of 1; weights of zero last.',
  rank: byWeight,
  because: describeWeight,
}
