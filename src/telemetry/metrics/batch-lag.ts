import { LATENCY_BUCKETS } from './latency-buckets.ts'
import { metricOf, unlabelled } from './metric.ts'

export const batchLag = metricOf(['batch.claimed'], {
  name: 'gateway_batch_lag_seconds',
  help: 'How long the longest due item of a batch had waited when it was claimed.',
  type: 'histogram',
  buckets: LATENCY_BUCKETS,
  value: ({ waitedMs }) => waitedMs / 1000,
  labels: unlabelled,
})
