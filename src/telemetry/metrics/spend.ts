import { NANO } from '../../lib/money.ts'
import { callLabels } from './call-labels.ts'
import { metricOf } from './metric.ts'

export const spend = metricOf(['call.finished'], {
  name: 'gateway_spend_total',
  help: 'US dollars that model calls have cost, as far as prices are known.',
  type: 'counter',
  scale: NANO,
  value: ({ costNano }) => costNano || undefined,
  ofCalls: true,
  labels: callLabels,
})
