import { LATENCY_BUCKETS } from './latency-buckets.ts'
import { type Metric, unlabelled } from './metric.ts'

/** Never observed yet: there are no prompt templates. */
export const promptLatency: Metric = {
  name: 'gateway_prompt_resolution_latency_seconds',
  help: 'Time to render a prompt template into a call.',
  type: 'histogram',
  buckets: LATENCY_BUCKETS,
  value: () => undefined,
  labels: unlabelled,
}
