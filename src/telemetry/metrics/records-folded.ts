import type { Metric } from './metric.ts'

export const recordsFolded: Metric = {
  name: 'gateway_records_folded_total',
  help: 'Records of which only sums were kept for lack of room, by topic.',
  type: 'counter',
  initial: { topic: 'ledger' },
  value: (event) => (event.type === 'records.folded' ? event.records : undefined),
  labels: (event) => ({ topic: 'topic' in event ? event.topic : '' }),
}
