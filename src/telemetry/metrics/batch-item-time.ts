import { LATENCY_BUCKETS } from './latency-buckets.ts'
import { type Metric, unlabelled } from './metric.ts'

export const batchItemTime: Metric = {
  name: 'gateway_batch_item_seconds',
  help: 'Time of a try of an item of a batch, from its start to the end of its call.',
  type: 'histogram',
  buckets: LATENCY_BUCKETS,
  value: (event) => (event.type === 'batch.item_ended' ? event.seconds : undefined),
  labels: unlabelled,
}
