import { LATENCY_BUCKETS } from './latency-buckets.ts'
import { type Metric, NOTHING } from './metric.ts'

export const requestLatency: Metric = {
  name: 'gateway_request_total_latency_seconds',
  help: 'Time from the arrival of a model call to the end of its answer.',
  type: 'histogram',
  buckets: LATENCY_BUCKETS,
  of: (event) =>
    event.type === 'call.finished'
      ? [{ labels: { model: event.model, provider: event.provider }, value: event.totalMs / 1000 }]
      : NOTHING,
}
