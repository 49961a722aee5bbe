import type { Strategy } from './strategy.ts'

/** Random, regardless of weights. */
export const simpleShuffle: Strategy = {
  name: 'simple-shuffle',
  rank: () => 0,
  because: () => 'at random, whatever the weights',
}
