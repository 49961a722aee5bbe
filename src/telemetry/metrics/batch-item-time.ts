import { LATENCY_BUCKETS } from './latency-buckets.ts'
import { metricOf, unlabelled } from './metric.ts'

export const batchItemTime = metricOf(['batch.item_ended'], {
  name: 'gateway_batch_item_seconds',
  help: 'Time of a try of an item of a batch, from its start to the end of its call.',
  type: 'histogram',
  buckets: LATENCY_BUCKETS,
  value: ({ seconds }) => seconds,
  labels: unlabelled,
})
