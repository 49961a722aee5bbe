import { metricOf } from './metric.ts'

export const recordsDropped = metricOf(['records.dropped'], {
  name: 'gateway_records_dropped_total',
  help: 'Records that could not be written and were given up, by topic.',
  type: 'counter',
  initial: { topic: 'ledger' },
  value: ({ records }) => records,
  labels: ({ topic }) => ({ topic }),
})
