import { metricOf } from './metric.ts'
import { OF_EACH_TOPIC } from './topic-labels.ts'

export const recordsKept = metricOf(['records.kept'], {
  name: 'gateway_records_kept_total',
  help: 'Records that were written to disk because the database was late, by topic.',
  type: 'counter',
  initial: OF_EACH_TOPIC,
  value: ({ records }) => records,
  labels: ({ topic }) => ({ topic }),
})
