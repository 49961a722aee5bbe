import { byWeight, describeWeight } from '../weights.ts'
import type { Strategy } from './strategy.ts'

/** Random in proportion to `model_info.weight`. */
export const weighted: Strategy = {
  name: 'weighted',
  rank: byWeight,
  because: describeWeight,
}
