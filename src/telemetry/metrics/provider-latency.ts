import { LATENCY_BUCKETS } from './latency-buckets.ts'
import { type Metric, NOTHING } from './metric.ts'

export const providerLatency: Metric = {
  name: 'gateway_llm_api_latency_seconds',
  help: 'Time that the provider took, of the attempt that served the call.',
  type: 'histogram',
  buckets: LATENCY_BUCKETS,
  of: (event) =>
    event.type === 'call.finished' && event.upstreamMs !== undefined
      ? [{ labels: { model: event.model, provider: event.provider }, value: event.upstreamMs / 1000 }]
      : NOTHING,
}
