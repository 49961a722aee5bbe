import { preferring, type Strategy } from './strategy.ts'

/** Fewest calls in flight. */
export const leastBusy: Strategy = {
  name: 'least-busy',
  ...preferring('active'),
  because: ({ signals }) => `${signals.active} calls in flight`,
}
