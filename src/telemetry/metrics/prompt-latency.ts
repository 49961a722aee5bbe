import { LATENCY_BUCKETS } from './latency-buckets.ts'
import { type Metric, NOTHING } from './metric.ts'

/** Nothing resolves a prompt yet. */
export const promptLatency: Metric = {
  name: 'gateway_prompt_resolution_latency_seconds',
  help: 'Time that it took to put a prompt template into a call.',
  type: 'histogram',
  buckets: LATENCY_BUCKETS,
  of: () => NOTHING,
}
