import { isStale } from '../../stores/kv/deployment-signals.ts'
import { preferring, type Strategy } from './strategy.ts'

/** Best recent latency. Deployments without a recent one come first, so that they are measured. */
export const latencyBasedRouting: Strategy = {
  name: 'latency-based-routing',
  ...preferring('latency'),
  because({ signals }, _mode, now) {
    if (signals.samples === 0) return 'not measured yet'
    if (isStale(signals, now)) return 'not measured of late'
    return `${Math.round(signals.firstTokenMs || signals.latencyMs)} ms to the first token`
  },
}
