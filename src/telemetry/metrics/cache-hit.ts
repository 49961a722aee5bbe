import { callLabels, NO_CALL } from './call-labels.ts'
import { metricOf } from './metric.ts'

export const cacheHit = metricOf(['call.finished'], {
  name: 'gateway_cache_hit_total',
  help: 'Model calls answered from the cache.',
  type: 'counter',
  initial: [NO_CALL],
  value: ({ cache }) => (cache === 'hit' ? 1 : undefined),
  ofCalls: true,
  labels: callLabels,
})
