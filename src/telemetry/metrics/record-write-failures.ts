import { metricOf } from './metric.ts'

export const recordWriteFailures = metricOf(['records.failed'], {
  name: 'gateway_record_write_failures_total',
  help: 'Failed writes of groups of records, by topic; they are repeated.',
  type: 'counter',
  initial: { topic: 'ledger' },
  value: () => 1,
  labels: ({ topic }) => ({ topic }),
})
