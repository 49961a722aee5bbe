import type { Metric } from './metric.ts'

export const recordsDead: Metric = {
  name: 'gateway_records_dead_total',
  help: 'Records that the database refused and that are kept as dead letters, by topic.',
  type: 'counter',
  initial: { topic: 'ledger' },
  value: (event) => (event.type === 'records.dead' ? event.records : undefined),
  labels: (event) => ({ topic: 'topic' in event ? event.topic : '' }),
}
