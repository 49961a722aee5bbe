import { callLabels } from './call-labels.ts'
import { metricOf } from './metric.ts'

export const unpricedCalls = metricOf(['call.finished'], {
  name: 'gateway_unpriced_calls_total',
  help: 'Model calls of unknown cost: their deployment has no price.',
  type: 'counter',
  value: ({ costNano }) => (costNano === undefined ? 1 : undefined),
  ofCalls: true,
  labels: callLabels,
})
