import { LATENCY_BUCKETS } from './latency-buckets.ts'
import { metricOf } from './metric.ts'

export const toolCallTime = metricOf(['tool.called'], {
  name: 'gateway_tool_call_seconds',
  help: 'Time of a call of a managed tool, from asking its server to the result.',
  type: 'histogram',
  buckets: LATENCY_BUCKETS,
  value: ({ ms }) => ms / 1000,
  labels: ({ server }) => ({ server }),
})
