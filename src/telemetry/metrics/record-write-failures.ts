import { metricOf } from './metric.ts'
import { OF_EACH_TOPIC } from './topic-labels.ts'

export const recordWriteFailures = metricOf(['records.failed'], {
  name: 'gateway_record_write_failures_total',
  help: 'Failed writes of groups of records, by topic; they are repeated.',
  type: 'counter',
  initial: OF_EACH_TOPIC,
  value: () => 1,
  labels: ({ topic }) => ({ topic }),
})
