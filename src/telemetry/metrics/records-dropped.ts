import { type Metric, NOTHING } from './metric.ts'

export const recordsDropped: Metric = {
  name: 'gateway_records_dropped_total',
  help: 'Records that were given up on their way to the database, by topic.',
  type: 'counter',
  initial: { topic: 'ledger' },
  of: (event) =>
    event.type === 'records.dropped' ? [{ labels: { topic: event.topic }, value: event.records }] : NOTHING,
}
