import type { Strategy } from './strategy.ts'

export const simpleShuffle: Strategy = {
  name: 'simple-shuffle',
  meaning: 'At random, each as often; weights are ignored.',
  rank: () => 0,
  because: () => 'at random, whatever the weights',
}
