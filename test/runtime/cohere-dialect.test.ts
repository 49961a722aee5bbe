import { describe, expect, inject, it } from 'vitest'
import { chatInit } from '../support/gateway.ts'
import { frames, json } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const path = (name: string) => `/cohere-${run}-${name}`
const PRICES = '{ input_cost_per_token: 0.001, output_cost_per_token: 0.002 }'

const gateway = withGateway(() => {
  const entry = (name: string, model: string, base: string) => `  - model_name: ${name}
    gateway_params: { model: ${model}, api_base: "${upstream.url}${path(name)}${base}", api_key: sk-canary }
    model_info: ${PRICES}
`
  return `router_settings: { cooldown_time: 0 }
model_list:
${entry('own', 'cohere/command-a', '')}${entry('other', 'openai-compatible/there', '/v1')}  - model_name: echo
    gateway_params: { model: echo/echo }
`
})

const post = (to: string, body: object) => gateway.fetch(to, chatInit(body))
const sent = async (name: string) => {
  const call = (await upstream.calls(path(name))).at(-1)
  return { path: call?.path.slice(path(name).length), body: JSON.parse(new TextDecoder().decode(call?.body)) }
}
const finished = async () => {
  await gateway.idle()
  return gateway.logs.filter(({ event }) => event === 'call.finished').at(-1)
}
const user = { role: 'user', content: 'Wo ist das?' }
/** A schema that a vendor of OpenAI's shape holds a model to. */
const schema = { type: 'object', properties: {}, required: [], additionalProperties: false }
const tools = [{ type: 'function', function: { name: 'find', description: 'Finds.', parameters: schema } }]
const calls = [{ id: 'call_1', type: 'function', function: { name: 'find', arguments: '{"q":"x"}' } }]
const event = (type: string, more: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
const eventsOf = (text: string) =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data as string) as Record<string, unknown>)

describe("Cohere's chat at its own vendor", () => {
  const citations = [{ start: 0, end: 4, text: 'Dort', sources: [{ type: 'document', id: 'd1' }] }]
  const usage = { billed_units: { input_tokens: 5, output_tokens: 2 }, tokens: { input_tokens: 50, output_tokens: 2 } }

  it('passes as it is, with citations, and is billed by its billed units', async () => {
    const message = { role: 'assistant', content: [{ type: 'text', text: 'Dort.' }], citations }
    const answer = { id: 'c-1', finish_reason: 'COMPLETE', message, usage }
    await upstream.script(path('own'), [json(200, answer)])
    const asked = {
      messages: [user],
      documents: [{ id: 'd1', data: { text: 'Dort.' } }],
      citation_options: { mode: 'FAST' },
    }
    const response = await post('/v2/chat', { model: 'own', metadata: { tags: [] }, ...asked })
    expect(await response.json()).toEqual(answer)
    expect(await sent('own')).toEqual({ path: '/v2/chat', body: { model: 'command-a', ...asked } })
    expect(await finished()).toMatchObject({ endpoint: '/v2/chat', mode: 'chat', costNano: 9_000_000 })
  })

  it('streams as it is', async () => {
    const events = [
      event('message-start', { id: 'c-1', delta: { message: { role: 'assistant' } } }),
      event('content-start', { index: 0, delta: { message: { content: { type: 'text', text: '' } } } }),
      event('content-delta', { index: 0, delta: { message: { content: { text: 'Dort.' } } } }),
      event('citation-start', { index: 0, delta: { message: { citations: citations[0] } } }),
      event('citation-end', { index: 0 }),
      event('content-end', { index: 0 }),
      event('message-end', { delta: { finish_reason: 'COMPLETE', usage } }),
    ]
    await upstream.script(path('own'), [frames(events)])
    const response = await post('/v2/chat', { model: 'own', messages: [user], stream: true })
    expect(await response.text()).toBe(events.join(''))
    expect(await finished()).toMatchObject({ ending: 'answered', costNano: 9_000_000 })
  })

  it('embeds as it is, in every type', async () => {
    const answer = {
      id: 'e-1',
      embeddings: { int8: [[1, -2]], float: [[0.1, -0.2]] },
      texts: ['a'],
      meta: { billed_units: { input_tokens: 3 } },
    }
    await upstream.script(path('own'), [json(200, answer)])
    const asked = { texts: ['a'], input_type: 'search_query', embedding_types: ['int8', 'float'] }
    expect(await (await post('/v2/embed', { model: 'own', ...asked })).json()).toEqual(answer)
    expect(await sent('own')).toEqual({ path: '/v2/embed', body: { model: 'command-a', ...asked } })
    expect(await finished()).toMatchObject({ endpoint: '/v2/embed', mode: 'embedding', costNano: 3_000_000 })
  })
})

describe("Cohere's chat at another provider", () => {
  const wireUsage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }

  it('is chat, with every turn and tool', async () => {
    const message = { role: 'assistant', content: null, tool_calls: calls }
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
    await upstream.script(path('other'), [json(200, { id: 'x-1', created: 1, model: 'm', choices, usage: wireUsage })])
    const response = await post('/v2/chat', {
      model: 'other',
      messages: [
        { role: 'system', content: 'Kurz.' },
        user,
        { role: 'assistant', tool_plan: 'Ich suche.', tool_calls: calls },
        {
          role: 'tool',
          tool_call_id: 'call_1',
          content: [{ type: 'document', document: { id: '1', data: '{"a":1}' } }],
        },
      ],
      tools,
      tool_choice: 'REQUIRED',
      strict_tools: true,
      ...{ max_tokens: 50, p: 0.5, stop_sequences: ['.'], temperature: 0.3, citation_options: { mode: 'OFF' } },
      response_format: { type: 'json_object', json_schema: schema },
    })
    expect(response.headers.get('x-gateway-dropped')).toBeNull()
    expect(await response.json()).toEqual({
      id: 'x-1',
      finish_reason: 'TOOL_CALL',
      message: { role: 'assistant', tool_calls: calls },
      usage: {
        billed_units: { input_tokens: 5, output_tokens: 2 },
        tokens: { input_tokens: 5, output_tokens: 2 },
      },
    })
    const { body } = await sent('other')
    expect(body).toMatchObject({
      model: 'there',
      messages: [
        { role: 'system', content: 'Kurz.' },
        user,
        { role: 'assistant', content: null, tool_calls: calls },
        { role: 'tool', tool_call_id: 'call_1', content: '{"a":1}' },
      ],
      tools: [{ type: 'function', function: { name: 'find', strict: true } }],
      ...{ tool_choice: 'required', top_p: 0.5, stop: ['.'], temperature: 0.3 },
      response_format: { type: 'json_schema', json_schema: { schema } },
    })
    expect(await finished()).toMatchObject({ endpoint: '/v2/chat', costNano: 9_000_000 })
  })

  it('streams the events of its clients: thoughts, text, calls, usage', async () => {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: 'x-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    const begin = { index: 0, id: 'call_1', type: 'function', function: { name: 'find', arguments: '' } }
    await upstream.script(path('other'), [
      frames([
        chunk({ role: 'assistant', content: '' }),
        chunk({ reasoning_content: 'Hm.' }),
        chunk({ content: 'Ich ' }),
        chunk({ content: 'suche.' }),
        chunk({ tool_calls: [begin] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '{"q":"x"}' } }] }),
        chunk({}, 'tool_calls'),
        `data: ${JSON.stringify({ id: 'x-1', created: 1, model: 'm', choices: [], usage: wireUsage })}\n\n`,
        'data: [DONE]\n\n',
      ]),
    ])
    const response = await post('/v2/chat', { model: 'other', messages: [user], tools, stream: true })
    const text = await response.text()
    const content = (part: object) => ({ message: { content: part } })
    const message = { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] }
    expect(eventsOf(text)).toEqual([
      { type: 'message-start', id: 'x-1', delta: { message } },
      { type: 'content-start', index: 0, delta: content({ type: 'thinking', thinking: '' }) },
      { type: 'content-delta', index: 0, delta: content({ thinking: 'Hm.' }) },
      { type: 'content-end', index: 0 },
      { type: 'content-start', index: 1, delta: content({ type: 'text', text: '' }) },
      { type: 'content-delta', index: 1, delta: content({ text: 'Ich ' }) },
      { type: 'content-delta', index: 1, delta: content({ text: 'suche.' }) },
      { type: 'content-end', index: 1 },
      {
        type: 'tool-call-start',
        index: 0,
        delta: {
          message: { tool_calls: { id: 'call_1', type: 'function', function: { name: 'find', arguments: '' } } },
        },
      },
      {
        type: 'tool-call-delta',
        index: 0,
        delta: { message: { tool_calls: { function: { arguments: '{"q":"x"}' } } } },
      },
      { type: 'tool-call-end', index: 0 },
      {
        type: 'message-end',
        delta: {
          finish_reason: 'TOOL_CALL',
          usage: { billed_units: { input_tokens: 5, output_tokens: 2 }, tokens: { input_tokens: 5, output_tokens: 2 } },
        },
      },
    ])
    expect(text.startsWith('event: message-start\n')).toBe(true)
    expect(await finished()).toMatchObject({ ending: 'answered', costNano: 9_000_000 })
  })

  it('embeds texts, one type at a time', async () => {
    const data = [{ object: 'embedding', index: 0, embedding: [0.5] }]
    await upstream.script(path('other'), [
      json(200, { object: 'list', data, usage: { prompt_tokens: 4, total_tokens: 4 } }),
    ])
    const asked = { model: 'other', texts: ['a'], input_type: 'search_query', output_dimension: 1 }
    const response = await post('/v2/embed', { ...asked, embedding_types: ['float'] })
    expect(response.headers.get('x-gateway-dropped')).toBe('input_type')
    expect(await response.json()).toMatchObject({
      embeddings: { float: [[0.5]] },
      texts: ['a'],
      meta: { billed_units: { input_tokens: 4 } },
    })
    expect(await sent('other')).toEqual({
      path: '/v1/embeddings',
      body: { model: 'there', input: ['a'], encoding_format: 'float', dimensions: 1 },
    })
    expect(await finished()).toMatchObject({ endpoint: '/v2/embed', costNano: 4_000_000 })
    const types = await post('/v2/embed', { ...asked, embedding_types: ['int8'] })
    expect([types.status, await types.json()]).toMatchObject([400, { error: { param: 'embedding_types' } }])
  })

  it.each([
    ['documents', { documents: ['x'] }],
    ['messages.0.content.0.type', { messages: [{ role: 'user', content: [{ type: 'video' }] }] }],
    ['messages', { messages: [] }],
  ])('refuses what cannot be told, naming %s', async (param, more) => {
    const response = await post('/v2/chat', { model: 'other', messages: [user], ...more })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ message: expect.any(String), error: { param } })
  })
})
