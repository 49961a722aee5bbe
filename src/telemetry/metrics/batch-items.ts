import { metricOf } from './metric.ts'

export const batchItems = metricOf(['batch.item_ended'], {
  name: 'gateway_batch_items_total',
  help: 'Tries of items of batches, by how they ended: completed, failed, or waiting for the next try.',
  type: 'counter',
  initial: [{ status: 'completed' }],
  value: () => 1,
  labels: ({ status }) => ({ status }),
})
