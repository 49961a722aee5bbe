import { sortedBy } from './sort.ts'
import type { Strategy } from './strategy.ts'

/** Best recent latency; what was never measured comes first, so that it is measured. */
export const latencyBasedRouting: Strategy = {
  name: 'latency-based-routing',
  order: (candidates, { random }) =>
    sortedBy(candidates, random, ({ signals }) =>
      signals.samples === 0 ? 0 : signals.firstTokenMs || signals.latencyMs,
    ),
  because: ({ signals }) =>
    signals.samples === 0
      ? 'not measured yet'
      : `${Math.round(signals.firstTokenMs || signals.latencyMs)} ms to the first token`,
}
