import { weightedOrder, weightInWords } from './sort.ts'
import type { Strategy } from './strategy.ts'

/** Random in proportion to `model_info.weight`. */
export const weighted: Strategy = {
  name: 'weighted',
  order: (candidates, { random }) => weightedOrder(candidates, random),
  because: weightInWords,
}
