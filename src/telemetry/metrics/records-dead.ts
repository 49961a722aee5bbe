import { metricOf } from './metric.ts'
import { OF_EACH_TOPIC } from './topic-labels.ts'

export const recordsDead = metricOf(['records.dead'], {
  name: 'gateway_records_dead_total',
  help: 'Records that the database refused and that are kept as dead letters, by topic.',
  type: 'counter',
  initial: OF_EACH_TOPIC,
  value: ({ records }) => records,
  labels: ({ topic }) => ({ topic }),
})
