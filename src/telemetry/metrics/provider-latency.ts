import { providerLabels } from './call-labels.ts'
import { LATENCY_BUCKETS } from './latency-buckets.ts'
import type { Metric } from './metric.ts'

export const providerLatency: Metric = {
  name: 'gateway_llm_api_latency_seconds',
  help: 'Time of the provider in the attempt that served the call.',
  type: 'histogram',
  buckets: LATENCY_BUCKETS,
  value: (event) =>
    event.type === 'call.finished' && event.upstreamMs !== undefined ? event.upstreamMs / 1000 : undefined,
  ofCalls: true,
  labels: providerLabels,
}
