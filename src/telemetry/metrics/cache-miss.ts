import { callLabels, NO_CALL } from './call-labels.ts'
import { metricOf } from './metric.ts'

export const cacheMiss = metricOf(['call.finished'], {
  name: 'gateway_cache_miss_total',
  help: 'Model calls whose answer was not in the cache.',
  type: 'counter',
  initial: [NO_CALL],
  value: ({ cache }) => (cache === 'miss' ? 1 : undefined),
  ofCalls: true,
  labels: callLabels,
})
