import { expect, it } from 'vitest'
import { messagesDialect } from '../../../../src/api/dialects/messages.ts'
import type { ModelRequest } from '../../../../src/modes/mode.ts'
import { providers } from '../../../../src/providers/index.ts'
import { gatewayParams } from '../../../../src/routing/configuration.ts'
import { wholeBody } from '../../../../src/transport/whole-body.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const cache_control = { type: 'ephemeral' }

async function sent(kind: string, body: ModelRequest, translated?: true): Promise<Record<string, unknown>> {
  const provider = providers.get(kind)
  const connection = provider?.connect(
    gatewayParams().parse({ model: `${kind}/m`, api_key: 'k', api_base: 'https://x.example/v1' }),
    {},
  )
  if (!provider || !connection) throw new Error(kind)
  const call = {
    body,
    bytes: encoder.encode(JSON.stringify(body)),
    streamed: false,
    ...(translated ? { translated } : {}),
  }
  const request = await provider.adapters.chat?.request(call, connection)
  const whole = request && wholeBody(request.body)
  return JSON.parse(typeof whole === 'string' ? whole : decoder.decode(whole))
}

const marked = {
  model: 'm',
  max_tokens: 9,
  system: [{ type: 'text', text: 'Long.', cache_control }],
  tools: [
    { name: 'f', input_schema: { type: 'object', properties: { cache_control: { type: 'string' } } }, cache_control },
  ],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control }] },
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'c', name: 'f', input: { cache_control: 'x' }, cache_control }],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: '1', cache_control }], cache_control },
      ],
    },
  ],
}

it('marks of what to cache that came from another dialect go to whom they are known alone', async () => {
  const chat = messagesDialect.toChat(marked as never)
  for (const kind of ['openai', 'azure', 'groq']) {
    const body = await sent(kind, chat, true)
    expect(JSON.stringify(body)).not.toContain('ephemeral')
    expect(body.tools).toMatchObject([
      { function: { parameters: { properties: { cache_control: { type: 'string' } } } } },
    ])
    expect(body.messages).toMatchObject([
      { role: 'system', content: 'Long.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', tool_calls: [{ id: 'c', function: { arguments: '{"cache_control":"x"}' } }] },
      { role: 'tool', tool_call_id: 'c', content: '1' },
    ])
    // What a client of chat writes itself is its own.
    expect(JSON.stringify(await sent(kind, chat))).toContain('ephemeral')
  }
  expect(JSON.stringify(await sent('openrouter', chat, true)).match(/ephemeral/g)).toHaveLength(6)
})

const source = { type: 'base64', media_type: 'image/png', data: 'aGk=' }
const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} })
const result = (id: string, ...content: object[]) => ({ type: 'tool_result', tool_use_id: id, content })
const picture = { type: 'image', source }
const shown = (id: string) => [
  { type: 'text', text: `The result of ${id}:` },
  { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
]

it('pictures in the results of tools are shown by the user behind all of them', async () => {
  const asked = { role: 'user', content: 'Draw.' }
  const both = { role: 'assistant', content: [use('a'), use('b')] }
  const results = [result('a', { type: 'text', text: 'Here:' }, picture), result('b', picture)]
  const of = async (...messages: object[]) => {
    const chat = messagesDialect.toChat({ model: 'm', max_tokens: 9, messages: [asked, both, ...messages] } as never)
    return ((await sent('openai', chat, true)).messages as object[]).slice(2)
  }
  const tools = [
    { role: 'tool', tool_call_id: 'a', content: 'Here:' },
    { role: 'tool', tool_call_id: 'b', content: 'The user shows it in the message that follows.' },
  ]
  const pictures = [...shown('a'), ...shown('b')]
  expect(await of({ role: 'user', content: results })).toEqual([...tools, { role: 'user', content: pictures }])
  expect(await of({ role: 'user', content: [...results, { type: 'text', text: 'Well?' }] })).toEqual([
    ...tools,
    { role: 'user', content: [...pictures, { type: 'text', text: 'Well?' }] },
  ])
  expect(await of({ role: 'user', content: results }, { role: 'assistant', content: 'Nice.' })).toEqual([
    ...tools,
    { role: 'user', content: pictures },
    { role: 'assistant', content: 'Nice.' },
  ])
})
