import { expect, it } from 'vitest'
import { converseRequest } from '../../../src/providers/bedrock/converse-request.ts'

const called = (id: string, name: string) => [
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name, arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: id, content: '12:00' },
]

it('a conversation that called tools names them to Bedrock, though the request has none', () => {
  const messages = [
    { role: 'user', content: 'Hi' },
    ...called('a', 'now'),
    ...called('b', 'today'),
    ...called('c', 'now'),
  ]
  const spec = (name: string) => ({ toolSpec: { name, inputSchema: { json: { type: 'object', properties: {} } } } })
  for (const tools of [undefined, []]) {
    expect(converseRequest({ model: 'm', messages, ...(tools ? { tools } : {}) }, 'm').toolConfig).toEqual({
      tools: [spec('now'), spec('today')],
    })
  }
  expect(converseRequest({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }, 'm')).not.toHaveProperty(
    'toolConfig',
  )
})
