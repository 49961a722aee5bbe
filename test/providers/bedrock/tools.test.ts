import { expect, it } from 'vitest'
import { GatewayError } from '../../../src/lib/errors.ts'
import { converseRequest } from '../../../src/providers/bedrock/converse-request.ts'
import { withoutThoughts } from '../../../src/providers/bedrock/without-thoughts.ts'
import { wholeBody } from '../../../src/transport/whole-body.ts'

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

it.each([
  ['us.meta.llama4-scout-17b-instruct-v1:0', undefined],
  ['amazon.nova-pro-v1:0', { tool: { name: 'now' } }],
])('%s is made to call a tool, or asked to in words', (model, toolChoice) => {
  const tools = [{ type: 'function', function: { name: 'now' } }]
  const tool_choice = { type: 'function', function: { name: 'now' } }
  const dropped: string[] = []
  const asked = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], tools, tool_choice }
  const { toolConfig, messages, system } = converseRequest(asked, model, (field) => dropped.push(field))
  expect(toolConfig).toMatchObject({ tools: [{ toolSpec: { name: 'now' } }] })
  expect((toolConfig as { toolChoice?: object }).toolChoice).toEqual(toolChoice)
  expect(JSON.stringify([messages, system]).includes('Answer with a call of now.')).toBe(toolChoice === undefined)
  expect(dropped).toEqual(toolChoice ? [] : ['tool_choice'])
})

it('Llama is asked without thoughts of Claude, and without top_k', () => {
  const thinking_blocks = [{ type: 'thinking', thinking: 'Hm.', signature: 'EuYB' }]
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Ho', thinking_blocks },
    { role: 'user', content: 'Go' },
  ]
  const dropped: string[] = []
  const asked = { model: 'm', messages, top_k: 40, temperature: 0.5 }
  const sent = converseRequest(asked, 'us.meta.llama3-3-70b-instruct-v1:0', (field) => dropped.push(field))
  expect(sent).toEqual({
    messages: [
      { role: 'user', content: [{ text: 'Hi' }] },
      { role: 'assistant', content: [{ text: 'Ho' }] },
      { role: 'user', content: [{ text: 'Go' }] },
    ],
    inferenceConfig: { temperature: 0.5 },
  })
  expect(dropped).toEqual(['top_k'])
})

it('Claude is asked again without thoughts whose signatures it cannot read', () => {
  const thought = { reasoningContent: { reasoningText: { text: 'Hm.', signature: '9f86' } } }
  const call = { toolUse: { toolUseId: 'c1', name: 'now', input: {} } }
  const turns = (...content: object[]) => [
    { role: 'user', content: [{ text: 'Hi' }] },
    { role: 'assistant', content },
    { role: 'user', content: [{ toolResult: { toolUseId: 'c1', content: [{ text: 'ok' }] } }] },
  ]
  const thinking = { type: 'enabled', budget_tokens: 1024 }
  const body = JSON.stringify({ messages: turns(thought, call), additionalModelRequestFields: { thinking, top_k: 5 } })
  const request = { method: 'POST' as const, origin: 'https://a.example', path: '/', headers: {}, body }
  const said = 'The model returned the following errors: messages.1.content.0: Invalid `signature` in `thinking` block'
  const rewrite = withoutThoughts(new GatewayError('upstream_rejected', said))
  expect(JSON.parse(new TextDecoder().decode(wholeBody(rewrite?.(request).body) as Uint8Array))).toEqual({
    messages: turns(call),
    additionalModelRequestFields: { thinking: { type: 'disabled' }, top_k: 5 },
  })
  expect(withoutThoughts(new GatewayError('upstream_rejected', 'Input is too long.'))).toBeUndefined()
})
