import { NANO } from '../../lib/money.ts'
import { callLabels } from './call-labels.ts'
import type { Metric } from './metric.ts'

export const spend: Metric = {
  name: 'gateway_spend_total',
  help: 'US dollars that model calls have cost, as far as prices are known.',
  type: 'counter',
  scale: NANO,
  value: (event) => (event.type === 'call.finished' && event.costNano ? event.costNano : undefined),
  ofCalls: true,
  labels: callLabels,
}
