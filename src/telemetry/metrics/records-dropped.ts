import { metricOf } from './metric.ts'
import { OF_EACH_TOPIC } from './topic-labels.ts'

export const recordsDropped = metricOf(['records.dropped'], {
  name: 'gateway_records_dropped_total',
  help: 'Records that could not be written and were given up, by topic.',
  type: 'counter',
  initial: OF_EACH_TOPIC,
  value: ({ records }) => records,
  labels: ({ topic }) => ({ topic }),
})
