import { NANO } from '../../lib/money.ts'
import { callLabels, NO_CALL } from './call-labels.ts'
import type { Metric } from './metric.ts'

export const cacheSaved: Metric = {
  name: 'gateway_cache_saved_usd_total',
  help: 'US dollars that model calls would have cost without the cache, as far as prices are known.',
  type: 'counter',
  scale: NANO,
  initial: NO_CALL,
  value: (event) => (event.type === 'call.finished' && event.savedNano ? event.savedNano : undefined),
  ofCalls: true,
  labels: callLabels,
}
