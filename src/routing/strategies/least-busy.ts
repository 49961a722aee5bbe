import type { Strategy } from './strategy.ts'

/** Fewest calls in flight. */
export const leastBusy: Strategy = {
  name: 'least-busy',
  rank: ({ id }, _draw, { signals }) => signals.of(id).active,
  because: ({ signals }) => `${signals.active} calls in flight`,
}
