import type { Metric } from './metric.ts'

export const recordsKept: Metric = {
  name: 'gateway_records_kept_total',
  help: 'Records that were written to disk because the database was late, by topic.',
  type: 'counter',
  initial: { topic: 'ledger' },
  value: (event) => (event.type === 'records.kept' ? event.records : undefined),
  labels: (event) => ({ topic: 'topic' in event ? event.topic : '' }),
}
