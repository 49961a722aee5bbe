import { LATENCY_BUCKETS } from './latency-buckets.ts'
import type { Metric } from './metric.ts'

export const toolCallTime: Metric = {
  name: 'gateway_tool_call_seconds',
  help: 'Time of a call of a managed tool, from asking its server to the result.',
  type: 'histogram',
  buckets: LATENCY_BUCKETS,
  value: (event) => (event.type === 'tool.called' ? event.ms / 1000 : undefined),
  labels: (event) => ({ server: event.type === 'tool.called' ? event.server : '' }),
}
