import { preferring, type Strategy } from './strategy.ts'

/** Best recent latency. Unmeasured deployments come first, so that they get measured. */
export const latencyBasedRouting: Strategy = {
  name: 'latency-based-routing',
  ...preferring('latency'),
  because: ({ signals }) =>
    signals.samples === 0
      ? 'not measured yet'
      : `${Math.round(signals.firstTokenMs || signals.latencyMs)} ms to the first token`,
}
