import { type Metric, NOTHING } from './metric.ts'

export const recordWriteFailures: Metric = {
  name: 'gateway_record_write_failures_total',
  help: 'Batches of records that could not be written this time, by topic; they are repeated.',
  type: 'counter',
  initial: { topic: 'ledger' },
  of: (event) => (event.type === 'records.failed' ? [{ labels: { topic: event.topic }, value: 1 }] : NOTHING),
}
