import { callLabels } from './call-labels.ts'
import { type Metric, NOTHING } from './metric.ts'

export const inputTokens: Metric = {
  name: 'gateway_input_tokens_total',
  help: 'Tokens sent to providers.',
  type: 'counter',
  of: (event) =>
    event.type === 'call.finished' && event.usage
      ? [{ labels: callLabels(event), value: event.usage.inputTokens }]
      : NOTHING,
}
