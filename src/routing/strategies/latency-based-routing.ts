import type { Strategy } from './strategy.ts'

/** Best recent latency; what was never measured comes first, so that it is measured. */
export const latencyBasedRouting: Strategy = {
  name: 'latency-based-routing',
  rank({ id }, _draw, { signals }) {
    const { samples, firstTokenMs, latencyMs } = signals.of(id)
    return samples === 0 ? 0 : firstTokenMs || latencyMs
  },
  because: ({ signals }) =>
    signals.samples === 0
      ? 'not measured yet'
      : `${Math.round(signals.firstTokenMs || signals.latencyMs)} ms to the first token`,
}
