import type { Metric } from './metric.ts'

export const recordWriteFailures: Metric = {
  name: 'gateway_record_write_failures_total',
  help: 'Failed writes of groups of records, by topic; they are repeated.',
  type: 'counter',
  initial: { topic: 'ledger' },
  value: (event) => (event.type === 'records.failed' ? 1 : undefined),
  labels: (event) => ({ topic: 'topic' in event ? event.topic : '' }),
}
