import type { Metric } from './metric.ts'

export const sinkFailures: Metric = {
  name: 'gateway_sink_failures_total',
  help: 'Attempts to deliver to a sink that failed.',
  type: 'counter',
  value: (event) => (event.type === 'sink.failed' ? 1 : undefined),
  labels: (event) => ({ sink: 'sink' in event ? event.sink : '' }),
}
