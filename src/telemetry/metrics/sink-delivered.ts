import type { Metric } from './metric.ts'

export const sinkDelivered: Metric = {
  name: 'gateway_sink_delivered_total',
  help: 'Events that the far end of a sink has taken.',
  type: 'counter',
  value: (event) => (event.type === 'sink.delivered' ? event.entries : undefined),
  labels: (event) => ({ sink: 'sink' in event ? event.sink : '' }),
}
