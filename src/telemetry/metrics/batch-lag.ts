import { LATENCY_BUCKETS } from './latency-buckets.ts'
import { type Metric, unlabelled } from './metric.ts'

export const batchLag: Metric = {
  name: 'gateway_batch_lag_seconds',
  help: 'How long the longest due item of a batch had waited when it was claimed.',
  type: 'histogram',
  buckets: LATENCY_BUCKETS,
  value: (event) => (event.type === 'batch.claimed' ? event.waitedMs / 1000 : undefined),
  labels: unlabelled,
}
