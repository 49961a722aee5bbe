import type { Metric } from './metric.ts'

export const sinkDropped: Metric = {
  name: 'gateway_sink_dropped_total',
  help: 'Events that were given up on their way to a sink.',
  type: 'counter',
  value: (event) => (event.type === 'sink.dropped' ? event.entries : undefined),
  labels: (event) => ({ sink: 'sink' in event ? event.sink : '' }),
}
