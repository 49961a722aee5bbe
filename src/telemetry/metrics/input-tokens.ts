import { callLabels } from './call-labels.ts'
import { metricOf } from './metric.ts'

export const inputTokens = metricOf(['call.finished'], {
  name: 'gateway_input_tokens_total',
  help: 'Tokens sent to providers.',
  type: 'counter',
  value: ({ usage }) => usage?.inputTokens,
  ofCalls: true,
  labels: callLabels,
})
