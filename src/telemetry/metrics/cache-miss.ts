import { callLabels, NO_CALL } from './call-labels.ts'
import type { Metric } from './metric.ts'

export const cacheMiss: Metric = {
  name: 'gateway_cache_miss_total',
  help: 'Model calls whose answer was not in the cache.',
  type: 'counter',
  initial: NO_CALL,
  value: (event) => (event.type === 'call.finished' && event.cache === 'miss' ? 1 : undefined),
  ofCalls: true,
  labels: callLabels,
}
