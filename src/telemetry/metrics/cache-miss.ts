import { callLabels, NO_CALL } from './call-labels.ts'
import type { Metric } from './metric.ts'

export const cacheMiss: Metric = {
  name: 'gateway_cache_miss_total',
  help: 'Model calls whose answer was looked for in the cache and was not there.',
  type: 'counter',
  initial: NO_CALL,
  value: (event) => (event.type === 'call.finished' && event.cache === 'miss' ? 1 : undefined),
  labels: callLabels,
}
