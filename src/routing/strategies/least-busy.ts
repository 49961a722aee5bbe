import { preferring, type Strategy } from './strategy.ts'

export const leastBusy: Strategy = {
  name: 'least-busy',
  meaning: 'Fewest calls in flight, over all processes.',
  ...preferring('active'),
  because: ({ id }, { signals }) => `${signals.of(id).active} calls in flight`,
}
