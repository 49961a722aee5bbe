import { providerLabels } from './call-labels.ts'
import { LATENCY_BUCKETS } from './latency-buckets.ts'
import { metricOf } from './metric.ts'

export const providerLatency = metricOf(['call.finished'], {
  name: 'gateway_llm_api_latency_seconds',
  help: 'Time of the provider in the attempt that served the call.',
  type: 'histogram',
  buckets: LATENCY_BUCKETS,
  value: ({ upstreamMs }) => (upstreamMs === undefined ? undefined : upstreamMs / 1000),
  ofCalls: true,
  labels: providerLabels,
})
