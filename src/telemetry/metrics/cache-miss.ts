import { callLabels, NO_CALL } from './call-labels.ts'
import { type Metric, NOTHING } from './metric.ts'

export const cacheMiss: Metric = {
  name: 'gateway_cache_miss_total',
  help: 'Model calls whose answer was looked for in the cache and was not there.',
  type: 'counter',
  initial: NO_CALL,
  of: (event) =>
    event.type === 'call.finished' && event.cache === 'miss' ? [{ labels: callLabels(event), value: 1 }] : NOTHING,
}
