import type { Metric } from './metric.ts'

export const toolCalls: Metric = {
  name: 'gateway_tool_calls_total',
  help: 'Calls of managed tools, by how they ended: ok, error of the tool itself, timeout, or failed.',
  type: 'counter',
  initial: { server: '', tool: '', result: 'ok' },
  value: (event) => (event.type === 'tool.called' ? 1 : undefined),
  labels(event) {
    if (event.type !== 'tool.called') return {}
    const { server, tool, result } = event
    return { server, tool, result }
  },
}
