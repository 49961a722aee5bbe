import { metricOf } from './metric.ts'

export const sinkDropped = metricOf(['sink.dropped'], {
  name: 'gateway_sink_dropped_total',
  help: 'Events that were given up on their way to a sink.',
  type: 'counter',
  ofSinks: true,
  value: ({ entries }) => entries,
  labels: ({ sink }) => ({ sink }),
})
