import { OVERHEAD_BUCKETS } from './latency-buckets.ts'
import { type Metric, unlabelled } from './metric.ts'

export const overhead: Metric = {
  name: 'gateway_overhead_seconds',
  help: 'Time spent in the gateway before the first upstream call was sent.',
  type: 'histogram',
  buckets: OVERHEAD_BUCKETS,
  value: (event) => (event.type === 'call.finished' && event.attempts > 0 ? event.overheadMs / 1000 : undefined),
  labels: unlabelled,
}
