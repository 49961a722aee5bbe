import { OVERHEAD_BUCKETS } from './latency-buckets.ts'
import { metricOf, unlabelled } from './metric.ts'

export const promptLatency = metricOf(['prompt.resolved'], {
  name: 'gateway_prompt_resolution_latency_seconds',
  help: 'Time to find a prompt template and to render it into a call.',
  type: 'histogram',
  buckets: OVERHEAD_BUCKETS,
  value: ({ status, seconds }) => (status === 'ok' ? seconds : undefined),
  labels: unlabelled,
})
