import { metricOf } from './metric.ts'

export const recordsKept = metricOf(['records.kept'], {
  name: 'gateway_records_kept_total',
  help: 'Records that were written to disk because the database was late, by topic.',
  type: 'counter',
  initial: { topic: 'ledger' },
  value: ({ records }) => records,
  labels: ({ topic }) => ({ topic }),
})
