import { metricOf } from './metric.ts'

export const sinkFailures = metricOf(['sink.failed'], {
  name: 'gateway_sink_failures_total',
  help: 'Attempts to deliver to a sink that failed.',
  type: 'counter',
  ofSinks: true,
  value: () => 1,
  labels: ({ sink }) => ({ sink }),
})
