import Anthropic, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from '@anthropic-ai/sdk'
import { describe, expect, it } from 'vitest'
import {
  answer,
  contextWindowExceeded,
  cutAfter,
  errorEvent,
  rateLimited,
  serverError,
  slowBetween,
  stallAfter,
} from '../support/upstream/index.ts'
import {
  BASE_URL,
  HELLO,
  MASTER_KEY,
  PARAMETERS,
  raised,
  seenLeaving,
  sent,
  TOOL_CALLS,
  TOOL_INPUTS,
  upstream,
} from './conversation.ts'

/** This client puts the version into its paths by itself: its base address ends without one. */
const options = { baseURL: new URL(BASE_URL).origin, maxRetries: 0 }
const client = new Anthropic({ ...options, apiKey: MASTER_KEY })
const model = 'anthropic'
const messages = [{ role: 'user' as const, content: HELLO }]
const asked = { model, max_tokens: 100, messages }
const tools = TOOL_CALLS.map(({ name }) => ({ name, description: 'Tells it.', input_schema: PARAMETERS }))
const uses = TOOL_CALLS.map(({ id, name }, index) => ({ type: 'tool_use', id, name, input: TOOL_INPUTS[index] }))

describe('@anthropic-ai/sdk', () => {
  it.each([
    ['its key', client],
    ['its token', new Anthropic({ ...options, apiKey: null, authToken: MASTER_KEY })],
    [
      'the header of its earlier versions',
      client.withOptions({ defaultHeaders: { authorization: null, 'x-api-key': MASTER_KEY } }),
    ],
  ])('gets an answer and its usage, with %s', async (_, caller) => {
    await upstream.script(model, [answer({ text: 'Hi you.' })])
    const message = await caller.messages.create({
      ...asked,
      system: 'Be brief.',
      stop_sequences: ['END'],
    })
    expect(message).toMatchObject({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'Hi you.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 5, output_tokens: 2 },
    })
    expect(await sent(model)).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: HELLO },
      ],
      stop: ['END'],
    })
  })

  it('streams events in order, of which the helper makes the message', async () => {
    await upstream.script(model, [answer({ text: HELLO })])
    const types: string[] = []
    for await (const event of await client.messages.create({ ...asked, stream: true })) types.push(event.type)
    const deltas = types.filter((type) => type === 'content_block_delta')
    expect(deltas.length).toBeGreaterThan(2)
    expect(types.filter((type) => type !== 'ping')).toEqual([
      ...['message_start', 'content_block_start'],
      ...deltas,
      ...['content_block_stop', 'message_delta', 'message_stop'],
    ])
    const stream = client.messages.stream(asked)
    const pieces: string[] = []
    stream.on('text', (piece) => pieces.push(piece))
    const final = await stream.finalMessage()
    expect(pieces.join('')).toBe(HELLO)
    expect(final).toMatchObject({
      content: [{ type: 'text', text: HELLO }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 4, output_tokens: 4 },
    })
  })

  it('shows what the model thought, whole and streamed, and takes it back', async () => {
    await upstream.script(model, [answer({ text: 'Hi you.', reasoning: 'A greeting.' })])
    const thinking = { type: 'enabled' as const, budget_tokens: 1024 }
    const whole = await client.messages.create({ ...asked, max_tokens: 2048, thinking })
    const streamed = await client.messages.stream({ ...asked, max_tokens: 2048, thinking }).finalMessage()
    for (const message of [whole, streamed]) {
      expect(message.content).toMatchObject([
        { type: 'thinking', thinking: 'A greeting.' },
        { type: 'text', text: 'Hi you.' },
      ])
    }
    const history = [...messages, { role: 'assistant' as const, content: whole.content }, ...messages]
    await client.messages.create({ ...asked, messages: history })
    expect(await sent(model)).toMatchObject({
      messages: [{ role: 'user' }, { role: 'assistant', content: 'Hi you.' }, { role: 'user' }],
    })
  })

  it('gets parallel tool calls, whole and streamed, and answers them', async () => {
    await upstream.script(model, [answer({ toolCalls: TOOL_CALLS })])
    const whole = await client.messages.create({ ...asked, tools, tool_choice: { type: 'any' } })
    expect(whole).toMatchObject({ stop_reason: 'tool_use', content: uses })
    expect(await sent(model)).toMatchObject({
      tool_choice: 'required',
      tools: TOOL_CALLS.map(({ name }) => ({ type: 'function', function: { name, parameters: PARAMETERS } })),
    })
    const streamed = await client.messages.stream({ ...asked, tools }).finalMessage()
    expect(streamed).toMatchObject({ stop_reason: 'tool_use', content: uses })

    await upstream.script(model, [answer({ text: 'Warm.' })])
    const results = TOOL_CALLS.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: '21' }))
    const history = [
      ...messages,
      { role: 'assistant' as const, content: whole.content },
      { role: 'user' as const, content: results },
    ]
    const next = await client.messages.create({ ...asked, messages: history, tools })
    expect(next.content).toMatchObject([{ type: 'text', text: 'Warm.' }])
    expect(await sent(model)).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant', tool_calls: TOOL_CALLS.map(({ id, name }) => ({ id, function: { name } })) },
        { role: 'tool', tool_call_id: 'call_a', content: '21' },
        { role: 'tool', tool_call_id: 'call_b', content: '21' },
      ],
    })
  })

  it('sends images', async () => {
    await upstream.script(model, [answer({ text: 'A cat.' })])
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: 'iVBORw0K' }
    const content = [
      { type: 'image' as const, source },
      { type: 'text' as const, text: 'What is it?' },
    ]
    await client.messages.create({ ...asked, messages: [{ role: 'user', content }] })
    expect(await sent(model)).toMatchObject({
      messages: [
        {
          content: [
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0K' } },
            { type: 'text', text: 'What is it?' },
          ],
        },
      ],
    })
  })

  it('lists the models', async () => {
    const ids: string[] = []
    for await (const entry of client.models.list()) ids.push(entry.id)
    expect(ids).toContain(model)
    expect(await client.models.retrieve(model)).toMatchObject({ id: model })
  })

  it('raises a wrong key and an unknown model', async () => {
    const wrong = await raised(() => client.withOptions({ apiKey: 'sk-wrong' }).messages.create(asked))
    expect(wrong).toBeInstanceOf(AuthenticationError)
    expect(wrong).toMatchObject({ status: 401, type: 'authentication_error' })
    const unknown = await raised(() => client.messages.create({ ...asked, model: 'nope' }))
    expect(unknown).toBeInstanceOf(NotFoundError)
    expect(unknown).toMatchObject({ status: 404, type: 'not_found_error' })
  })

  it('raises what chat cannot express, by name', async () => {
    const search = { type: 'web_search_20250305' as const, name: 'web_search' as const }
    const error = await raised(() => client.messages.create({ ...asked, tools: [search] }))
    expect(error).toBeInstanceOf(BadRequestError)
    expect(error).toMatchObject({ status: 400, type: 'invalid_request_error' })
    expect(error.message).toContain('tools.0')
  })

  it('gets an estimate of tokens that the provider cannot count', async () => {
    const { data, response } = await client.messages.countTokens({ model, messages }).withResponse()
    expect(data.input_tokens).toBeGreaterThan(0)
    expect(response.headers.get('x-gateway-estimated')).toBe('1')
  })

  it.each([
    ['a context window that is too small', contextWindowExceeded(), BadRequestError, 'invalid_request_error'],
    ['a rate limit', rateLimited({ seconds: 7 }), RateLimitError, 'rate_limit_error'],
    ['a provider that is broken', serverError(), InternalServerError, 'api_error'],
  ])('raises %s, whole and streamed', async (_, behaviour, kind, type) => {
    await upstream.script(model, [behaviour])
    for (const call of [() => client.messages.create(asked), () => client.messages.stream(asked).finalMessage()]) {
      const error = await raised(call)
      expect(error).toBeInstanceOf(kind)
      expect(error).toMatchObject({ type })
      if (type === 'rate_limit_error') expect((error.headers as Headers).get('retry-after')).toBe('7')
    }
  })

  it.each([
    ['an error event', answer({}, errorEvent(3), slowBetween({ ms: 50, only: 3 }))],
    ['a cut', answer({}, cutAfter({ frames: 3 }))],
  ])('raises %s in the middle of a stream', async (_, behaviour) => {
    await upstream.script(model, [behaviour])
    let text = ''
    const reading = await raised(async () => {
      for await (const event of await client.messages.create({ ...asked, stream: true })) {
        if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') text += event.delta.text
      }
    })
    expect(text).toBe('Hello, this')
    expect(reading).toBeInstanceOf(APIError)
    expect(reading).toMatchObject({ type: 'api_error' })
    expect(await raised(() => client.messages.stream(asked).finalMessage())).toBeInstanceOf(APIError)
  })

  it('ends the call at the provider when it leaves', async () => {
    await upstream.script(model, [answer({}, stallAfter({ frames: 4 }))])
    for await (const event of await client.messages.create({ ...asked, stream: true })) {
      if (event.type === 'content_block_delta') break
    }
    await seenLeaving(model)
  })
})

describe("@anthropic-ai/sdk: at a base address of the vendor's own", () => {
  const under = new Anthropic({ baseURL: `${new URL(BASE_URL).origin}/anthropic`, maxRetries: 0, apiKey: MASTER_KEY })

  it('asks, counts and lists', async () => {
    await upstream.script(model, [answer()])
    expect(await under.messages.create(asked)).toMatchObject({ type: 'message', stop_reason: 'end_turn' })
    expect((await under.messages.countTokens({ model, messages })).input_tokens).toBeGreaterThan(0)
    const listed = await under.models.list()
    expect(listed.data.find(({ id }) => id === model)).toMatchObject({ type: 'model', display_name: model })
  })

  it('raises failures in their own shape, of unknown paths and of models too', async () => {
    const wrong = new Anthropic({ ...under, baseURL: under.baseURL, apiKey: 'sk-wrong', maxRetries: 0 })
    const body = { type: 'error', error: { type: 'authentication_error' } }
    expect(await raised(() => wrong.models.list())).toMatchObject({ status: 401, error: body })
    const unknown = await raised(() => under.post('/v1/nothing', { body: {} }))
    expect(unknown).toMatchObject({ status: 404, error: { type: 'error', error: { type: 'not_found_error' } } })
  })
})
