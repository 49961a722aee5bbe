import { providerLabels } from './call-labels.ts'
import { LATENCY_BUCKETS } from './latency-buckets.ts'
import type { Metric } from './metric.ts'

export const firstToken: Metric = {
  name: 'gateway_first_token_seconds',
  help: 'Time from the arrival of a model call to the first content of its answer.',
  type: 'histogram',
  buckets: LATENCY_BUCKETS,
  value: (event) =>
    event.type === 'call.finished' && event.firstTokenMs !== undefined ? event.firstTokenMs / 1000 : undefined,
  ofCalls: true,
  labels: providerLabels,
}
