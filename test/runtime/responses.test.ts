import type { ResponseInput } from 'openai/resources/responses/responses'
import { describe, expect, inject, it } from 'vitest'
import { chatInit, configOf } from '../support/gateway.ts'
import { openaiClient } from '../support/openai-client.ts'
import { readStream } from '../support/sse.ts'
import { bodyOf } from '../support/upstream/call.ts'
import { answer, contextWindowExceeded, cutAfter, recut } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const toolCalls = [
  { id: 'call_a', name: 'weather', arguments: '{"city":"Zürich"}' },
  { id: 'call_b', name: 'time', arguments: '{"zone":"Europe/Zurich"}' },
]
const tools = toolCalls.map(({ name }) => ({
  type: 'function' as const,
  name,
  parameters: { type: 'object', properties: {}, additionalProperties: false },
  strict: true,
}))
let model: string

const gateway = withGateway(() => {
  model = `responses-${globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'}`
  return configOf(upstream.url, { [model]: [model] }, 'router_settings: { cooldown_time: 0 }\n')
})

const respond = (body: object) => gateway.fetch('/v1/responses', chatInit({ model, input: 'Hello', ...body }))
const sent = async () => bodyOf((await upstream.calls(model)).at(-1) as never) as Record<string, unknown>
const eventsOf = async (body: object) =>
  (await readStream(await respond({ stream: true, ...body }))).events.map(({ event, data }) => {
    const parsed = JSON.parse(data)
    expect(parsed.type).toBe(event)
    return parsed
  })

describe('POST /v1/responses, by way of chat', () => {
  it('answers the official client with a whole response', async () => {
    await upstream.script(model, [answer({ text: 'Grüße 🙂', reasoning: 'Let me see.' })])
    const response = await openaiClient(gateway).responses.create({
      model,
      input: 'Hello',
      instructions: 'Be brief.',
      max_output_tokens: 99,
      metadata: { topic: 'demo' },
      store: false,
    })
    expect(response.output_text).toBe('Grüße 🙂')
    expect(response).toMatchObject({
      id: expect.stringMatching(/^resp_/),
      object: 'response',
      created_at: expect.any(Number),
      status: 'completed',
      error: null,
      incomplete_details: null,
      instructions: 'Be brief.',
      max_output_tokens: 99,
      metadata: { topic: 'demo' },
      model,
      output: [
        { type: 'reasoning', id: expect.stringMatching(/^rs_/), summary: [{ text: 'Let me see.' }] },
        {
          type: 'message',
          id: expect.stringMatching(/^msg_/),
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Grüße 🙂', annotations: [] }],
        },
      ],
      parallel_tool_calls: true,
      tool_choice: 'auto',
      tools: [],
      text: { format: { type: 'text' } },
      usage: {
        input_tokens: expect.any(Number),
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: expect.any(Number),
        output_tokens_details: { reasoning_tokens: 3 },
        total_tokens: expect.any(Number),
      },
    })
    expect(await sent()).toEqual({
      model,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
      max_completion_tokens: 99,
    })
    await gateway.idle()
    const finished = gateway.logs.findLast((line) => line.event === 'call.finished')
    expect(finished).toMatchObject({
      endpoint: '/v1/responses',
      usage: { estimated: false, outputTokens: response.usage?.output_tokens, reasoningTokens: 3 },
    })
  })

  it('asks with a whole conversation of items', async () => {
    await upstream.script(model, [answer({})])
    const input: ResponseInput = [
      { role: 'developer', content: 'Rules.' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look:' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'low' },
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' },
        ],
      },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Both.' }] },
      { type: 'function_call', call_id: 'call_a', name: 'weather', arguments: '{}' },
      { type: 'function_call', call_id: 'call_b', name: 'time', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_a', output: 'sunny' },
      { type: 'function_call_output', call_id: 'call_b', output: [{ type: 'input_text', text: 'noon' }] },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Sunny at noon.', annotations: [] }],
      },
      { role: 'user', content: 'And now?' },
    ]
    // What a vendor of OpenAI's shape holds a model to.
    const schema = { type: 'object', properties: {}, required: [], additionalProperties: false }
    const format = { type: 'json_schema' as const, name: 'answer', schema, strict: true }
    await openaiClient(gateway).responses.create({
      model,
      input,
      tools,
      tool_choice: { type: 'function', name: 'weather' },
      text: { format, verbosity: 'low' },
      reasoning: { effort: 'low', summary: 'auto' },
      temperature: 0.5,
      top_p: 0.9,
      parallel_tool_calls: false,
      truncation: 'disabled',
      include: ['reasoning.encrypted_content'],
    })
    expect(await sent()).toEqual({
      model,
      messages: [
        { role: 'system', content: 'Rules.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look:' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          reasoning_content: 'Both.',
          tool_calls: [
            { id: 'call_a', type: 'function', function: { name: 'weather', arguments: '{}' } },
            { id: 'call_b', type: 'function', function: { name: 'time', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_a', content: 'sunny' },
        { role: 'tool', tool_call_id: 'call_b', content: 'noon' },
        { role: 'assistant', content: 'Sunny at noon.' },
        { role: 'user', content: 'And now?' },
      ],
      tools: tools.map(({ type, ...tool }) => ({ type, function: tool })),
      tool_choice: { type: 'function', function: { name: 'weather' } },
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', schema, strict: true },
      },
      verbosity: 'low',
      reasoning_effort: 'low',
      temperature: 0.5,
      top_p: 0.9,
      parallel_tool_calls: false,
    })
  })

  it('streams words in the order of the vendor’s own events, however the bytes were cut', async () => {
    const said = { text: 'Hello Zürich', reasoning: 'Hm.' }
    const names = (events: readonly { type: string }[]) => events.map(({ type }) => type.replace('response.', ''))
    for (const changes of [[], [recut({ every: 1 })]]) {
      await upstream.script(model, [answer(said, ...changes)])
      const events = await eventsOf({})
      expect(names(events)).toEqual([
        'created',
        'in_progress',
        'output_item.added',
        'reasoning_summary_part.added',
        'reasoning_summary_text.delta',
        'reasoning_summary_text.done',
        'reasoning_summary_part.done',
        'output_item.done',
        'output_item.added',
        'content_part.added',
        'output_text.delta',
        'output_text.delta',
        'output_text.done',
        'content_part.done',
        'output_item.done',
        'completed',
      ])
      expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index))
      const { response } = events.at(-1)
      expect(response.output[1].content[0].text).toBe('Hello Zürich')
      expect(response.usage).toMatchObject({ output_tokens: 3, output_tokens_details: { reasoning_tokens: 1 } })
    }
  })

  it('is put together by the official client: words and parsed answers', async () => {
    await upstream.script(model, [answer({ text: '{"city":"Zürich"}', reasoning: 'Where?' })])
    const runner = openaiClient(gateway).responses.stream({
      model,
      input: 'Where?',
      text: { format: { type: 'json_schema', name: 'place', schema: { type: 'object' } } },
    })
    const types: string[] = []
    for await (const event of runner) types.push(event.type)
    const final = await runner.finalResponse()
    expect(final.output_text).toBe('{"city":"Zürich"}')
    expect(final.output_parsed).toEqual({ city: 'Zürich' })
    expect(types.at(-1)).toBe('response.completed')
  })

  it('gives the official client parallel tool calls, whole and streamed', async () => {
    await upstream.script(model, [answer({ text: 'Both.', toolCalls })])
    const expected = toolCalls.map(({ id, name, arguments: text }) => ({ call_id: id, name, arguments: text }))
    const whole = await openaiClient(gateway).responses.create({ model, input: 'Both, please.', tools })
    const runner = openaiClient(gateway).responses.stream({ model, input: 'Both, please.', tools })
    const streamed = await runner.finalResponse()
    for (const { output, status } of [whole, streamed]) {
      expect(status).toBe('completed')
      expect(output.map(({ type }) => type)).toEqual(['message', 'function_call', 'function_call'])
      expect(output.slice(1)).toMatchObject(expected)
    }
  })

  it('says that an answer was too long', async () => {
    await upstream.script(model, [answer({ text: 'a b', finishReason: 'length' })])
    const wanted = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
    expect(await openaiClient(gateway).responses.create({ model, input: 'x' })).toMatchObject(wanted)
    const events = await eventsOf({})
    expect(events.at(-1)).toMatchObject({ type: 'response.incomplete', response: wanted })
  })

  it('ends an answer that was cut with response.failed, and the error event at which clients raise', async () => {
    await upstream.script(model, [answer({ text: 'a b c d' }, cutAfter({ frames: 3 }))])
    const events = await eventsOf({})
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index))
    expect(events.filter(({ type }) => /completed|incomplete|failed/.test(type))).toHaveLength(1)
    const [last, raised] = events.slice(-2)
    expect(raised).toMatchObject({ type: 'error', code: 'upstream_truncated' })
    expect(last).toMatchObject({ type: 'response.failed', response: { id: events[0].response.id, status: 'failed' } })
    expect(last.response.error).toMatchObject({
      code: 'server_error',
      message: expect.stringContaining('before its answer was complete'),
    })
    const runner = openaiClient(gateway).responses.stream({ model, input: 'x' })
    await expect(runner.finalResponse()).rejects.toThrow('before its answer was complete')
    await gateway.idle()
    expect(gateway.logs.findLast((line) => line.event === 'call.finished')).toMatchObject({ ending: 'truncated' })
  })

  it('does not pass a formal end without a finish off as an end', async () => {
    await upstream.script(model, [answer({ text: 'a b', finishReason: null, done: true })])
    const types = (await eventsOf({})).map(({ type }) => type)
    expect(types).not.toContain('response.completed')
    expect(types.slice(-2)).toEqual(['response.failed', 'error'])
    const chat = await gateway.chat({ model, messages: [{ role: 'user', content: 'x' }], stream: true })
    expect(await chat.text()).not.toContain('[DONE]')
  })

  it('raises the vendor’s errors before anything was said', async () => {
    await upstream.script(model, [contextWindowExceeded()])
    const asked = openaiClient(gateway).responses.create({ model, input: 'x' })
    await expect(asked).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded' })
    const streamed = openaiClient(gateway).responses.create({ model, input: 'x', stream: true })
    await expect(streamed).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded' })
  })

  it.each([
    ['background', { background: true }],
    ['conversation', { conversation: 'conv_1' }],
    ['prompt', { prompt: { id: 'pmpt_1' } }],
    ['tools.0.type', { tools: [{ type: 'web_search' }] }],
    ['tools.1.type', { tools: [tools[0], { type: 'mcp', server_label: 'x', server_url: 'https://x.test' }] }],
    ['tools.0.type', { tools: [{ type: 'divination' }, tools[0]] }],
    ['tool_choice.type', { tools: [tools[0]], tool_choice: { type: 'web_search' } }],
    ['text.format.type', { text: { format: { type: 'grammar' } } }],
    ['input', { input: [] }],
    ['input', { input: undefined }],
    ['input', { input: 5 }],
    ['input.0.role', { input: [{ role: 'wizard', content: 'x' }] }],
    [
      'input.0.content.1.type',
      { input: [{ role: 'user', content: [{ type: 'input_text', text: 'a' }, { type: 'x' }] }] },
    ],
    ['input.0.content.0.file_id', { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file_1' }] }] }],
    ['input.0.call_id', { input: [{ type: 'function_call_output', output: 'x' }] }],
  ])('refuses what chat cannot say, naming %s, and asks nobody', async (param, body) => {
    const before = (await upstream.calls(model)).length
    const response = await respond(body)
    const { error } = (await response.json()) as { error: object }
    expect(error).toMatchObject({ type: 'invalid_request_error', param })
    expect(response.status).toBe(400)
    expect(response.headers.get('x-gateway-attempts')).toBeNull()
    expect(await upstream.calls(model)).toHaveLength(before)
  })
})
