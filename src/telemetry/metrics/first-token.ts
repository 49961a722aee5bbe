import { providerLabels } from './call-labels.ts'
import { LATENCY_BUCKETS } from './latency-buckets.ts'
import { metricOf } from './metric.ts'

export const firstToken = metricOf(['call.finished'], {
  name: 'gateway_first_token_seconds',
  help: 'Time from the arrival of a model call to the first content of its answer.',
  type: 'histogram',
  buckets: LATENCY_BUCKETS,
  value: ({ firstTokenMs }) => (firstTokenMs === undefined ? undefined : firstTokenMs / 1000),
  ofCalls: true,
  labels: providerLabels,
})
