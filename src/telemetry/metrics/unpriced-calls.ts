import { callLabels } from './call-labels.ts'
import type { Metric } from './metric.ts'

export const unpricedCalls: Metric = {
  name: 'gateway_unpriced_calls_total',
  help: 'Model calls of unknown cost: their deployment has no price.',
  type: 'counter',
  value: (event) => (event.type === 'call.finished' && event.costNano === undefined ? 1 : undefined),
  ofCalls: true,
  labels: callLabels,
}
