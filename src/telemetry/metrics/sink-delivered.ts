import { metricOf } from './metric.ts'

export const sinkDelivered = metricOf(['sink.delivered'], {
  name: 'gateway_sink_delivered_total',
  help: 'Events that the far end of a sink has taken.',
  type: 'counter',
  ofSinks: true,
  value: ({ entries }) => entries,
  labels: ({ sink }) => ({ sink }),
})
