import { preferring, type Strategy } from './strategy.ts'

/** Best recent latency; what was never measured comes first, so that it is measured. */
export const latencyBasedRouting: Strategy = {
  name: 'latency-based-routing',
  ...preferring('latency'),
  because: ({ signals }) =>
    signals.samples === 0
      ? 'not measured yet'
      : `${Math.round(signals.firstTokenMs || signals.latencyMs)} ms to the first token`,
}
