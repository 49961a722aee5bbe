import { providerLabels } from './call-labels.ts'
import { LATENCY_BUCKETS } from './latency-buckets.ts'
import type { Metric } from './metric.ts'

export const requestLatency: Metric = {
  name: 'gateway_request_total_latency_seconds',
  help: 'Time from the arrival of a model call to the end of its answer.',
  type: 'histogram',
  buckets: LATENCY_BUCKETS,
  value: (event) => (event.type === 'call.finished' ? event.totalMs / 1000 : undefined),
  ofCalls: true,
  labels: providerLabels,
}
