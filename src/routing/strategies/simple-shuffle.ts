import { shuffled } from './sort.ts'
import type { Strategy } from './strategy.ts'

/** Random, whatever the weights say. */
export const simpleShuffle: Strategy = {
  name: 'simple-shuffle',
  order: (candidates, { random }) => shuffled(candidates, random),
  because: () => 'at random, whatever the weights',
}
