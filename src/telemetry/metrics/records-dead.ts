import { metricOf } from './metric.ts'

export const recordsDead = metricOf(['records.dead'], {
  name: 'gateway_records_dead_total',
  help: 'Records that the database refused and that are kept as dead letters, by topic.',
  type: 'counter',
  initial: { topic: 'ledger' },
  value: ({ records }) => records,
  labels: ({ topic }) => ({ topic }),
})
