import type { Metric } from './metric.ts'

export const recordsDropped: Metric = {
  name: 'gateway_records_dropped_total',
  help: 'Records that could not be written and were given up, by topic.',
  type: 'counter',
  initial: { topic: 'ledger' },
  value: (event) => (event.type === 'records.dropped' ? event.records : undefined),
  labels: (event) => ({ topic: 'topic' in event ? event.topic : '' }),
}
