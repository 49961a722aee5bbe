import { describe, expect, inject, it } from 'vitest'
import { block, delta, end, event, input, last, ping, start, stop, tool, words } from '../fixtures/anthropic/events.ts'
import { chatInit, MASTER_KEY } from '../support/gateway.ts'
import { chunksOf, readStream } from '../support/sse.ts'
import { answer, cutAfter, frames, json } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const caller = { type: 'direct' }
const upstream = upstreamClient(inject('upstreamUrl'))
const decoder = new TextDecoder()
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const path = (name: string) => `/messages-${run}-${name}`
const messages = [{ role: 'user', content: 'Hello' }]
const names = ['whole', 'error', 'refused', 'stream', 'late', 'cut', 'overload', 'count', 'policy'] as const

const gateway = withGateway(() => {
  const deployment = (group: string, name: string, model: string, base: string) => `  - model_name: ${group}
    deployment_id: ${name}
    gateway_params: { model: ${model}, api_base: "${upstream.url}${path(name)}${base}", api_key: sk-canary-5e1 }
`
  const entries = [
    ...names.map((name) => deployment(`claude-${name}`, `claude-${name}`, `anthropic/up-${name}`, '')),
    ...names.map((name) => deployment(`gpt-${name}`, `gpt-${name}`, `openai-compatible/gpt-up-${name}`, '/v1')),
    deployment('mixed', 'mixed-gpt', 'openai-compatible/mixed', '/v1'),
    deployment('mixed', 'mixed-claude', 'anthropic/mixed', ''),
    deployment('pair', 'pair-a', 'anthropic/pair-a', ''),
    deployment('pair', 'pair-b', 'anthropic/pair-b', ''),
  ]
  return `general_settings: { max_json_bytes: 4000 }\nrouter_settings: { cooldown_time: 60, num_retries: 1 }\nmodel_list:\n${entries.join('')}  - model_name: echo\n    gateway_params: { model: echo/echo }\n`
})

const post = (body: object, to = '/v1/messages', headers: Record<string, string> = {}) =>
  gateway.fetch(to, chatInit({ max_tokens: 50, ...body }, { headers }))
const finished = async () => {
  await gateway.idle()
  return gateway.logs.filter(({ event: name }) => name === 'call.finished').at(-1)
}
const message = (content: object[], stop_reason = 'end_turn') => ({
  id: 'msg_01',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-6',
  content,
  stop_reason,
  stop_sequence: null,
  usage: { input_tokens: 10, cache_read_input_tokens: 90, output_tokens: 7 },
})
const text = (words: string) => ({ type: 'text', text: words })
const bodiesAt = async (name: string) =>
  (await upstream.calls(path(name))).map((call) => JSON.parse(decoder.decode(call.body)))

describe('a thought whose signature its provider cannot read', () => {
  const thought = { type: 'thinking', thinking: 'Hm.', signature: '9f86d081' }
  const call = { type: 'tool_use', id: 'c1', name: 'f', input: { id: '1' } }
  const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'ok' }] }
  const turns = (...content: object[]) => [...messages, { role: 'assistant', content }, result]
  const error = {
    type: 'invalid_request_error',
    message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
  }
  const refusal = json(400, { type: 'error', error })

  it.each([
    [{ type: 'adaptive' }, { type: 'adaptive' }],
    [{ type: 'enabled', budget_tokens: 1024 }, { type: 'disabled' }],
  ])('is left out, and the provider asked once more: %j', async (thinking, expected) => {
    const tools = [{ name: 'f', input_schema: { type: 'object' } }]
    const asked = { model: 'claude-whole', max_tokens: 2048, thinking, tools, messages: turns(thought, call) }
    await upstream.script(path('claude-whole'), [refusal, json(200, message([text('Done.')]))])
    const response = await post(asked)
    expect([response.status, response.headers.get('x-gateway-attempts')]).toEqual([200, '1'])
    const [first, second] = (await bodiesAt('claude-whole')).slice(-2)
    expect(first).toMatchObject({ thinking, messages: asked.messages })
    expect(second).toMatchObject({ thinking: expected, messages: turns(call) })
  })

  it('is left out of a chat, too', async () => {
    const made = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"id":12345678901234567890}' } }
    const spoken = { role: 'assistant', content: null, thinking_blocks: [thought], tool_calls: [made] }
    const chat = [...messages, spoken, { role: 'tool', tool_call_id: 'c1', content: 'ok' }]
    await upstream.script(path('claude-whole'), [refusal, json(200, message([text('Done.')]))])
    expect((await gateway.chat({ model: 'claude-whole', messages: chat })).status).toBe(200)
    const sent = decoder.decode((await upstream.calls(path('claude-whole'))).at(-1)?.body)
    expect(sent).toContain('"content":[{"type":"tool_use","id":"c1","name":"f","input":{"id":12345678901234567890}}]')
  })
})

describe('chat at a provider of messages', () => {
  it('answers whole', async () => {
    await upstream.script(path('claude-whole'), [json(200, message([text('Grüße 🙂')]))])
    const response = await gateway.chat({ model: 'claude-whole', messages, user: 'u' })
    expect(response.status).toBe(200)
    const completion = (await response.json()) as { created: number }
    expect(completion).toMatchObject({
      object: 'chat.completion',
      model: 'claude-sonnet-4-6',
      choices: [
        { message: { role: 'assistant', content: 'Grüße 🙂', refusal: null }, logprobs: null, finish_reason: 'stop' },
      ],
      usage: { prompt_tokens: 100, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 90 } },
    })
    expect(completion.created).toBeGreaterThan(1_700_000_000)
    const [call] = await upstream.calls(path('claude-whole'))
    expect(call?.headers).toMatchObject({ 'x-api-key': 'sk-canary-5e1', 'anthropic-version': '2023-06-01' })
    expect(call?.headers.authorization).toBeUndefined()
    expect(await finished()).toMatchObject({
      provider: 'anthropic',
      usage: { inputTokens: 100, outputTokens: 7, cachedInputTokens: 90, estimated: false },
    })
  })

  it('streams parallel calls', async () => {
    const events = [
      start({ input_tokens: 10, cache_read_input_tokens: 90, output_tokens: 1 }),
      ping,
      tool(0, 'toolu_a', 'weather'),
      input(0, '{"at":'),
      input(0, '"Zürich"}'),
      stop(0),
      tool(1, 'toolu_b', 'time'),
      stop(1),
      end('tool_use', { output_tokens: 7 }),
      last,
    ]
    await upstream.script(path('claude-stream'), [frames(events)])
    const asked = { model: 'claude-stream', messages, stream: true, stream_options: { include_usage: true } }
    const stream = await readStream(await gateway.chat(asked))
    expect(stream.events.at(-1)?.data).toBe('[DONE]')
    const chunks = chunksOf(stream) as { choices: { delta: { tool_calls?: object[] }; finish_reason: string }[] }[]
    expect(chunks.flatMap(({ choices }) => choices.flatMap(({ delta: { tool_calls } }) => tool_calls ?? []))).toEqual([
      { index: 0, id: 'toolu_a', type: 'function', function: { name: 'weather', arguments: '' } },
      { index: 0, function: { arguments: '{"at":' } },
      { index: 0, function: { arguments: '"Zürich"}' } },
      { index: 1, id: 'toolu_b', type: 'function', function: { name: 'time', arguments: '' } },
      { index: 1, function: { arguments: '{}' } },
    ])
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('tool_calls')
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 7 } })
    expect(await finished()).toMatchObject({ usage: { inputTokens: 100, outputTokens: 7, cachedInputTokens: 90 } })
  })

  it('is refused before anybody is asked, and nobody is blamed', async () => {
    const response = await gateway.chat({ model: 'pair', messages, response_format: { type: 'grammar' } })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { type: 'invalid_request_error', param: 'response_format' },
    })
    expect(await upstream.calls(path('pair-a'))).toHaveLength(0)
    expect(await upstream.calls(path('pair-b'))).toHaveLength(0)
    await gateway.idle()
    const health = (await (await gateway.fetch('/health/deployments?model=pair')).json()) as {
      deployments: { consecutive_failures: number }[]
    }
    expect(health.deployments.map(({ consecutive_failures }) => consecutive_failures)).toEqual([0, 0])
  })

  it('hears the provider’s own words about its mistakes', async () => {
    const error = { type: 'invalid_request_error', message: 'messages: too odd' }
    await upstream.script(path('claude-error'), [json(400, { type: 'error', error })])
    const response = await gateway.chat({ model: 'claude-error', messages })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { message: 'messages: too odd' } })
  })

  it('does not take a refusal for an answer', async () => {
    await upstream.script(path('claude-policy'), [json(200, message([], 'refusal'))])
    const response = await gateway.chat({ model: 'claude-policy', messages })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: 'content_policy_violation' } })
  })
})

describe('messages at their own provider', () => {
  it('go through byte for byte, with the client’s version and betas', async () => {
    const reply = `{ "id":"msg_2", "type":"message", "content":[{"type":"text","text":"Hi"}], "x": 1.50, "usage":{"input_tokens":3,"output_tokens":4} }`
    await upstream.script(path('claude-late'), [
      {
        say: { kind: 'raw', status: 200, headers: { 'content-type': 'application/json' }, pieces: [reply] },
        changes: [],
      },
    ])
    const body = `{"max_tokens":9, "model":"claude-late","messages":[{"role":"user","content":"Grüße"}], "x_new": 12345678901234567890}`
    const headers = {
      'anthropic-version': '2023-01-01',
      'anthropic-beta': 'b-1',
      'x-stainless-os': 'Linux',
      cookie: 'a=b',
    }
    const response = await gateway.fetch('/v1/messages', chatInit(body, { headers }))
    expect(await response.text()).toBe(reply)
    const [call] = await upstream.calls(path('claude-late'))
    expect(call?.path).toBe(`${path('claude-late')}/v1/messages`)
    expect(decoder.decode(call?.body)).toBe(body.replace('claude-late', 'up-late'))
    expect(call?.headers).toMatchObject({ 'anthropic-version': '2023-01-01', 'anthropic-beta': 'b-1' })
    expect(call?.headers['x-stainless-os']).toBeUndefined()
    expect(call?.headers.cookie).toBeUndefined()
    expect(await finished()).toMatchObject({ endpoint: '/v1/messages', usage: { inputTokens: 3, outputTokens: 4 } })
  })

  it('stream byte for byte, with their usage read', async () => {
    const events = [start(), ping, words(0, 'Grü', 'ße 🙂'), event('brand_new', { x: 1 }), end('end_turn'), last]
    await upstream.script(path('claude-count'), [frames(events)])
    const stream = await readStream(await post({ model: 'claude-count', messages, stream: true }))
    expect(stream.text).toBe(events.join(''))
    expect(await finished()).toMatchObject({ ending: 'answered', usage: { inputTokens: 25, outputTokens: 15 } })
  })

  it('end with an error event when they are cut', async () => {
    const events = [start(), block(0, { type: 'text', text: '' }), delta(0, { type: 'text_delta', text: 'Hello wo' })]
    await upstream.script(path('claude-cut'), [frames([...events, stop(0)], {}, cutAfter({ frames: 3 }))])
    const stream = await readStream(await post({ model: 'claude-cut', messages, stream: true }))
    expect(stream.events.map(({ event: name }) => name)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'error',
    ])
    expect(JSON.parse(stream.events.at(-1)?.data ?? '')).toMatchObject({ type: 'error', error: { type: 'api_error' } })
    expect(await finished()).toMatchObject({
      ending: 'truncated',
      usage: { inputTokens: 25, outputTokens: 2, estimated: true },
    })
  })

  it('fail over unseen when the first event is an error', async () => {
    const overloaded = event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } })
    const good = [start(), words(0, 'Hi'), end('end_turn'), last]
    await upstream.script(path('pair-a'), [frames([start(), overloaded])])
    await upstream.script(path('pair-b'), [frames(good)])
    for (let tries = 0; tries < 3; tries++) {
      const stream = await readStream(await post({ model: 'pair', messages, stream: true }))
      expect(stream.text).toBe(good.join(''))
    }
  })
})

describe('messages at a provider of chat', () => {
  it('are asked for in chat and answered in their own shape', async () => {
    const asked = {
      model: 'gpt-whole',
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [
        { role: 'user', content: 'Weather?' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm', signature: '' },
            { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { at: 'Zürich' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: [text('no station')], is_error: true },
            text('Try again.'),
          ],
        },
      ],
      tools: [{ name: 'weather', input_schema: { type: 'object' } }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      stop_sequences: ['END'],
      metadata: { user_id: 'u' },
    }
    const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"at":"Bern"}' } }
    await upstream.script(path('gpt-whole'), [
      json(200, {
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 1,
        model: 'gpt-x',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'Looking.', tool_calls: [call] },
            finish_reason: 'tool_calls',
          },
        ],
        usage: { prompt_tokens: 100, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 60 } },
      }),
    ])
    const response = await post(asked)
    expect(await response.json()).toEqual({
      id: 'chatcmpl-1',
      type: 'message',
      role: 'assistant',
      model: 'gpt-x',
      content: [text('Looking.'), { type: 'tool_use', id: 'call_1', name: 'weather', input: { at: 'Bern' }, caller }],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 40, cache_creation_input_tokens: 0, cache_read_input_tokens: 60, output_tokens: 9 },
    })
    expect((await bodiesAt('gpt-whole'))[0]).toEqual({
      model: 'gpt-up-whole',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Weather?' },
        {
          role: 'assistant',
          content: null,
          reasoning_content: 'Hm',
          tool_calls: [
            { id: 'toolu_1', type: 'function', function: { name: 'weather', arguments: '{"at":"Zürich"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'toolu_1', content: 'Error: no station' },
        { role: 'user', content: 'Try again.' },
      ],
      max_completion_tokens: 50,
      stop: ['END'],
      tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }],
      tool_choice: 'required',
      parallel_tool_calls: false,
      user: 'u',
    })
  })

  it('stream in their own events, the usage at the end', async () => {
    await upstream.script(path('gpt-stream'), [answer({})])
    const stream = await readStream(await post({ model: 'gpt-stream', messages, stream: true }))
    const events = stream.events.map(({ event: name, data }) => ({ name, ...JSON.parse(data) }))
    expect(events.every(({ name, type }) => name === type)).toBe(true)
    const types = events.map(({ type }) => type)
    expect(types.slice(0, 4)).toEqual(['message_start', 'ping', 'content_block_start', 'content_block_delta'])
    expect(types.slice(-4)).toEqual(['content_block_delta', 'content_block_stop', 'message_delta', 'message_stop'])
    expect(events[0].message.usage.input_tokens).toBeGreaterThan(0)
    const log = (await finished()) as { usage: { inputTokens: number; outputTokens: number } }
    const { delta: ended, usage } = events.at(-2)
    expect(ended).toEqual({ stop_reason: 'end_turn', stop_sequence: null })
    expect(usage.output_tokens).toBe(log.usage.outputTokens)
    expect(usage.input_tokens + usage.cache_read_input_tokens).toBe(log.usage.inputTokens)
    expect(log.usage.outputTokens).toBeGreaterThan(0)
  })

  it('end with their own error event when cut, and without a stop', async () => {
    await upstream.script(path('gpt-cut'), [answer({}, cutAfter({ frames: 4 }))])
    const stream = await readStream(await post({ model: 'gpt-cut', messages, stream: true }))
    expect(stream.events.at(-1)?.event).toBe('error')
    expect(stream.text).not.toContain('message_stop')
  })

  it('go to the deployment that can be told everything', async () => {
    await upstream.script(path('mixed-gpt'), [json(500, {})])
    await upstream.script(path('mixed-claude'), [json(200, message([text('Hi')]))])
    for (let tries = 0; tries < 4; tries++) {
      const response = await post({
        model: 'mixed',
        messages,
        mcp_servers: [{ type: 'url', url: 'https://x.example' }],
      })
      expect(response.headers.get('x-gateway-deployment')).toBe('mixed-claude')
    }
    expect(await upstream.calls(path('mixed-gpt'))).toHaveLength(0)
  })

  it('work with the provider inside', async () => {
    const response = await post({ model: 'echo', messages })
    expect(await response.json()).toMatchObject({ content: [text('Hello')], stop_reason: 'end_turn' })
  })
})

describe('what the vendor explains to its clients', () => {
  it.each([404, 400, 409])('about a thread reaches them, whatever its status (%i)', async (status) => {
    const details = { error_code: 'thread_not_found', hint: ['replay'] }
    await upstream.script(path('claude-error'), [
      json(status, { type: 'error', error: { type: 'not_found_error', message: 'No such thread.', details } }),
    ])
    const response = await post({ model: 'claude-error', messages, thread: { type: 'create' } })
    expect(await response.json()).toMatchObject({ error: { message: 'No such thread.', details } })
    expect(response.status).toBe(400)
  })

  it('holds no credential', async () => {
    await upstream.script(path('claude-error'), [
      json(400, { type: 'error', error: { type: 'x', message: 'No.', details: { key: 'sk-canary-5e1' } } }),
    ])
    const response = await post({ model: 'claude-error', messages })
    expect([response.status, (await response.json()) as object]).toEqual([
      400,
      expect.objectContaining({ error: { type: 'invalid_request_error', message: 'No.' } }),
    ])
  })

  it('lets them go on without a thread where the provider has none', async () => {
    const response = await post({ model: 'gpt-error', messages, thread: { type: 'create' } })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] } },
    })
  })
})

describe('counting tokens', () => {
  it('is the provider’s', async () => {
    await upstream.script(path('claude-whole'), [json(200, { input_tokens: 14 })])
    const response = await post({ model: 'claude-whole', messages }, '/v1/messages/count_tokens')
    expect(await response.json()).toEqual({ input_tokens: 14 })
    const call = (await upstream.calls(path('claude-whole'))).at(-1)
    expect(call?.path).toBe(`${path('claude-whole')}/v1/messages/count_tokens`)
    expect(await finished()).toMatchObject({ usage: { inputTokens: 0, outputTokens: 0 } })
  })

  it('is an estimate, free and marked, where no provider of the model counts', async () => {
    const count = async (body: object) => {
      const response = await post({ model: 'gpt-count', ...body }, '/v1/messages/count_tokens')
      expect([response.status, response.headers.get('x-gateway-estimated')]).toEqual([200, '1'])
      return ((await response.json()) as { input_tokens: number }).input_tokens
    }
    const short = await count({ messages })
    expect(short).toBeGreaterThan(5)
    expect(short).toBeLessThan(40)
    const words = 'The quick brown fox jumps over the lazy dog. '.repeat(40)
    const long = await count({ messages, system: words })
    expect(long - short).toBeGreaterThan(350)
    expect(long - short).toBeLessThan(550)
    expect(await finished()).toMatchObject({ model: 'gpt-count', status: 200, attempts: 0, costNano: 0 })
    // What only another vendor knows does not keep it from being counted.
    expect(await count({ messages, thinking: { type: 'adaptive' }, mcp_servers: [{}] })).toBeGreaterThan(short)
    expect(await upstream.calls(path('gpt-count'))).toHaveLength(0)
  })

  it('is asked of the deployment that counts, where another of the group does not', async () => {
    await upstream.script(path('mixed-claude'), [json(200, { input_tokens: 15 })])
    for (let turn = 0; turn < 4; turn++) {
      const response = await post({ model: 'mixed', messages }, '/v1/messages/count_tokens')
      expect(await response.json()).toEqual({ input_tokens: 15 })
      expect(response.headers.has('x-gateway-estimated')).toBe(false)
    }
  })
})

describe('every failure at these paths has their own shape', () => {
  const bare = (init: RequestInit) => ({ ...init, headers: { authorization: '', ...(init.headers as object) } })
  const cases: [string, number, string, () => Promise<Response>][] = [
    ['no key', 401, 'authentication_error', () => gateway.fetch('/v1/messages', bare(chatInit({})))],
    ['malformed JSON', 400, 'invalid_request_error', () => gateway.fetch('/v1/messages', chatInit('{"model":'))],
    ['a missing field', 400, 'invalid_request_error', () => post({ model: 'echo' })],
    ['an unknown model', 404, 'not_found_error', () => post({ model: 'nope', messages })],
    ['a large body', 413, 'request_too_large', () => post({ model: 'echo', messages, system: 'x'.repeat(4000) })],
    [
      'another media type',
      415,
      'invalid_request_error',
      () => gateway.fetch('/v1/messages', { method: 'POST', body: 'x' }),
    ],
    ['another method', 405, 'invalid_request_error', () => gateway.fetch('/v1/messages')],
    [
      'a block that chat has no words for',
      400,
      'invalid_request_error',
      () =>
        post({ model: 'echo', messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: 'f' }] }] }),
    ],
  ]
  it.each(cases)('%s', async (_, status, type, ask) => {
    const response = await ask()
    expect(response.status).toBe(status)
    const body = (await response.json()) as { error: object; request_id: string }
    expect(body).toEqual({
      type: 'error',
      error: { type, message: expect.stringMatching(/\w/) },
      request_id: response.headers.get('x-request-id'),
    })
    // Where the vendor's client looks for it.
    expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'))
  })

  it('an overloaded provider', async () => {
    await upstream.script(path('claude-overload'), [
      json(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
    ])
    const response = await post({ model: 'claude-overload', messages })
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({ type: 'error', error: { type: 'api_error' } })
  })

  it('and no other path does', async () => {
    const response = await gateway.chat({ model: 'nope', messages })
    expect(await response.json()).toHaveProperty('error.param', 'model')
  })
})

describe('the key', () => {
  it('may come as x-api-key here, and only here', async () => {
    const headers = { authorization: '', 'x-api-key': MASTER_KEY }
    expect((await post({ model: 'echo', messages }, '/v1/messages', headers)).status).toBe(200)
    const wrong = { authorization: '', 'x-api-key': 'sk-wrong' }
    expect((await post({ model: 'echo', messages }, '/v1/messages', wrong)).status).toBe(401)
    expect((await gateway.chat({ model: 'echo', messages }, { headers })).status).toBe(401)
  })
})
