import type { Strategy } from './group.ts'

// Written from src/routing/strategies by `npm run readme`.
export const STRATEGIES: Readonly<Record<Strategy, string>> = {
  'simple-shuffle': 'At random, each as often; weights are ignored.',
  weighted: 'At random by weight: 3 gets three times the calls of 1; weights of zero last.',
  'priority-based-routing': 'Lowest priority first.',
  'least-busy': 'Fewest calls in flight, over all processes.',
  'latency-based-routing':
    'Best recent time to the first token. Deployments without a measurement come first, so that they get one; those not measured for five minutes get one call.',
  'cost-based-routing': 'Lowest unit price for the kind of request; an unknown price last.',
  'usage-based-routing': 'Lowest utilization of the tightest per-minute limit.',
  'rate-limit-aware': 'At random among those with room; those above 90 % of a limit after them.',
  'tag-based-routing': 'As weighted. The tags of a request restrict it under every strategy.',
}
