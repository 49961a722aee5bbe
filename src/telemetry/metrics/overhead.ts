import { OVERHEAD_BUCKETS } from './latency-buckets.ts'
import { type Metric, NOTHING } from './metric.ts'

export const overhead: Metric = {
  name: 'gateway_overhead_seconds',
  help: 'Time spent in the gateway before the first upstream call was sent.',
  type: 'histogram',
  buckets: OVERHEAD_BUCKETS,
  of: (event) =>
    event.type === 'call.finished' && event.attempts > 0 ? [{ labels: {}, value: event.overheadMs / 1000 }] : NOTHING,
}
