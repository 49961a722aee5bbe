import { providerLabels } from './call-labels.ts'
import { LATENCY_BUCKETS } from './latency-buckets.ts'
import { metricOf } from './metric.ts'

export const requestLatency = metricOf(['call.finished'], {
  name: 'gateway_request_total_latency_seconds',
  help: 'Time from the arrival of a model call to the end of its answer.',
  type: 'histogram',
  buckets: LATENCY_BUCKETS,
  value: ({ totalMs }) => totalMs / 1000,
  ofCalls: true,
  labels: providerLabels,
})
