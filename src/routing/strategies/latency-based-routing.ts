import { isStale } from '../../stores/kv/deployment-signals.ts'
import { preferring, type Strategy } from './strategy.ts'

export const latencyBasedRouting: Strategy = {
  name: 'latency-based-routing',
  meaning:
    'Best recent time to the first token. Deployments without a measurement come first, so that they get one; those not measured for five minutes get one call.',
  ...preferring('latency'),
  because({ id }, context) {
    const signals = context.signals.of(id)
    if (signals.samples === 0) return 'not measured yet'
    if (isStale(signals, context.now)) return 'not measured of late'
    return `${Math.round(signals.firstTokenMs || signals.latencyMs)} ms to the first token`
  },
}
