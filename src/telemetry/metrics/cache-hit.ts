import { callLabels, NO_CALL } from './call-labels.ts'
import type { Metric } from './metric.ts'

export const cacheHit: Metric = {
  name: 'gateway_cache_hit_total',
  help: 'Model calls answered from the cache.',
  type: 'counter',
  initial: NO_CALL,
  value: (event) => (event.type === 'call.finished' && event.cache === 'hit' ? 1 : undefined),
  ofCalls: true,
  labels: callLabels,
}
