import type { Metric } from './metric.ts'

export const batchItems: Metric = {
  name: 'gateway_batch_items_total',
  help: 'Tries of items of batches, by how they ended: completed, failed, or waiting for the next try.',
  type: 'counter',
  initial: { status: 'completed' },
  value: (event) => (event.type === 'batch.item_ended' ? 1 : undefined),
  labels: (event) => ({ status: event.type === 'batch.item_ended' ? event.status : '' }),
}
