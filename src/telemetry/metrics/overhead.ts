import { OVERHEAD_BUCKETS } from './latency-buckets.ts'
import { metricOf, unlabelled } from './metric.ts'

export const overhead = metricOf(['call.finished'], {
  name: 'gateway_overhead_seconds',
  help: 'Time spent in the gateway before the first upstream call was sent.',
  type: 'histogram',
  buckets: OVERHEAD_BUCKETS,
  value: ({ attempts, overheadMs }) => (attempts > 0 ? overheadMs / 1000 : undefined),
  labels: unlabelled,
})
