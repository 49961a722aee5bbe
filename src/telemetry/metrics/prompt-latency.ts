import { OVERHEAD_BUCKETS } from './latency-buckets.ts'
import { type Metric, unlabelled } from './metric.ts'

export const promptLatency: Metric = {
  name: 'gateway_prompt_resolution_latency_seconds',
  help: 'Time to find a prompt template and to render it into a call.',
  type: 'histogram',
  buckets: OVERHEAD_BUCKETS,
  value: (event) => (event.type === 'prompt.resolved' && event.status === 'ok' ? event.seconds : undefined),
  labels: unlabelled,
}
