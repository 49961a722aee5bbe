import type { Strategy } from './strategy.ts'

/** Random, whatever the weights say. */
export const simpleShuffle: Strategy = {
  name: 'simple-shuffle',
  rank: () => 0,
  because: () => 'at random, whatever the weights',
}
