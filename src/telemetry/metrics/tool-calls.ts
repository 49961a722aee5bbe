import { metricOf } from './metric.ts'

export const toolCalls = metricOf(['tool.called'], {
  name: 'gateway_tool_calls_total',
  help: 'Calls of managed tools, by how they ended: ok, error of the tool itself, timeout, or failed.',
  type: 'counter',
  initial: [{ server: '', tool: '', result: 'ok' }],
  value: () => 1,
  labels: ({ server, tool, result }) => ({ server, tool, result }),
})
