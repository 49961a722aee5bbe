import { callLabels } from './call-labels.ts'
import type { Metric } from './metric.ts'

export const inputTokens: Metric = {
  name: 'gateway_input_tokens_total',
  help: 'Tokens sent to providers.',
  type: 'counter',
  value: (event) => (event.type === 'call.finished' ? event.usage?.inputTokens : undefined),
  ofCalls: true,
  labels: callLabels,
}
