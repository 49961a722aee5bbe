import { NANO } from '../../lib/money.ts'
import { callLabels, NO_CALL } from './call-labels.ts'
import { metricOf } from './metric.ts'

export const cacheSaved = metricOf(['call.finished'], {
  name: 'gateway_cache_saved_usd_total',
  help: 'US dollars that model calls would have cost without the cache, as far as prices are known.',
  type: 'counter',
  scale: NANO,
  initial: [NO_CALL],
  value: ({ savedNano }) => savedNano || undefined,
  ofCalls: true,
  labels: callLabels,
})
