import { metricOf } from './metric.ts'
import { OF_EACH_TOPIC } from './topic-labels.ts'

export const recordsFolded = metricOf(['records.folded'], {
  name: 'gateway_records_folded_total',
  help: 'Records of which only sums were kept for lack of room, by topic.',
  type: 'counter',
  initial: OF_EACH_TOPIC,
  value: ({ records }) => records,
  labels: ({ topic }) => ({ topic }),
})
