import OpenAI, { APIError, AuthenticationError, NotFoundError, RateLimitError } from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  answer,
  contextWindowExceeded,
  cutAfter,
  errorEvent,
  rateLimited,
  slowBetween,
  stallAfter,
} from '../support/upstream/index.ts'
import {
  ADA,
  BASE_URL,
  HELLO,
  MASTER_KEY,
  PARAMETERS,
  raised,
  seenLeaving,
  sent,
  TOOL_CALLS,
  upstream,
} from './conversation.ts'

const client = new OpenAI({ apiKey: MASTER_KEY, baseURL: BASE_URL, maxRetries: 0 })
const model = 'openai-responses'
const tools = TOOL_CALLS.map(({ name }) => ({
  type: 'function' as const,
  name,
  parameters: PARAMETERS,
  strict: false,
}))
const called = TOOL_CALLS.map(({ id, name, arguments: text }) => ({
  type: 'function_call',
  call_id: id,
  name,
  arguments: text,
}))

describe('openai: responses', () => {
  it('answers a text, with usage', async () => {
    await upstream.script(model, [answer({ text: 'Hi you.', reasoning: 'A greeting.' })])
    const response = await client.responses.create({
      model,
      instructions: 'Be brief.',
      input: HELLO,
      max_output_tokens: 50,
      reasoning: { effort: 'low' },
    })
    expect(response.status).toBe('completed')
    expect(response.output_text).toBe('Hi you.')
    expect(response.output.map((item) => item.type)).toEqual(['reasoning', 'message'])
    expect(response.usage).toMatchObject({ input_tokens: 5, output_tokens: 4, total_tokens: 9 })
    expect(response.usage?.output_tokens_details.reasoning_tokens).toBe(2)
    expect(await sent(model)).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: HELLO },
      ],
      max_completion_tokens: 50,
      reasoning_effort: 'low',
    })
  })

  it('streams typed events in order, of which the helper makes the response', async () => {
    await upstream.script(model, [answer({ text: HELLO, reasoning: 'A greeting.' })])
    const events: OpenAI.Responses.ResponseStreamEvent[] = []
    for await (const event of await client.responses.create({ model, input: HELLO, stream: true })) events.push(event)
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index))
    expect(events[0]?.type).toBe('response.created')
    expect(events.at(-1)?.type).toBe('response.completed')
    const said = events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : ''))
    expect(said.filter(Boolean).length).toBeGreaterThan(2)
    expect(said.join('')).toBe(HELLO)

    const final = await client.responses.stream({ model, input: HELLO }).finalResponse()
    expect(final.output_text).toBe(HELLO)
    expect(final.usage).toMatchObject({ input_tokens: 4, output_tokens: 6 })
  })

  it('calls functions in parallel, whole and streamed, and takes their outputs', async () => {
    await upstream.script(model, [answer({ toolCalls: TOOL_CALLS })])
    const whole = await client.responses.create({ model, input: HELLO, tools, parallel_tool_calls: true })
    expect(whole.output).toMatchObject(called)
    const helper = client.responses.stream({ model, input: HELLO, tools })
    const pieces: string[][] = [[], []]
    helper.on('response.function_call_arguments.delta', ({ output_index, delta }) => pieces[output_index]?.push(delta))
    expect((await helper.finalResponse()).output).toMatchObject(called)
    expect(pieces.map((list) => list.join(''))).toEqual(TOOL_CALLS.map((call) => call.arguments))

    await upstream.script(model, [answer({ text: 'Warm.' })])
    const outputs = TOOL_CALLS.map(({ id }) => ({
      type: 'function_call_output' as const,
      call_id: id,
      output: '21',
    }))
    const question = { role: 'user' as const, content: HELLO }
    const asItems = whole.output as OpenAI.Responses.ResponseInputItem[]
    const next = await client.responses.create({ model, input: [question, ...asItems, ...outputs], tools })
    expect(next.output_text).toBe('Warm.')
    const { messages } = (await sent(model)) as { messages: unknown[] }
    expect(messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: TOOL_CALLS.map(({ id }) => ({ id })) },
      { role: 'tool', tool_call_id: 'call_a', content: '21' },
      { role: 'tool', tool_call_id: 'call_b', content: '21' },
    ])
  })

  it('takes what it answered as the next input, reasoning included', async () => {
    await upstream.script(model, [answer({ text: 'Hi you.', reasoning: 'A greeting.' })])
    const first = await client.responses.create({ model, input: HELLO, include: ['reasoning.encrypted_content'] })
    const history = first.output as OpenAI.Responses.ResponseInputItem[]
    const more = { role: 'user' as const, content: 'And then?' }
    await client.responses.create({ model, input: [{ role: 'user', content: HELLO }, ...history, more] })
    const { messages } = (await sent(model)) as { messages: unknown[] }
    expect(messages).toMatchObject([{ role: 'user' }, { role: 'assistant', content: 'Hi you.' }, { role: 'user' }])
  })

  it('parses a structured answer, whole and streamed', async () => {
    await upstream.script(model, [answer({ text: JSON.stringify(ADA) })])
    const text = { format: zodTextFormat(z.object({ name: z.string(), age: z.int() }), 'person') }
    const whole = await client.responses.parse({ model, input: HELLO, text })
    expect(whole.output_parsed).toEqual(ADA)
    expect(await sent(model)).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { name: 'person', strict: true } },
    })
    const streamed = await client.responses.stream({ model, input: HELLO, text }).finalResponse()
    expect(streamed.output_parsed).toEqual(ADA)
  })

  it('says that an answer is incomplete', async () => {
    await upstream.script(model, [answer({ text: 'Once upon', finishReason: 'length' })])
    const whole = await client.responses.create({ model, input: HELLO, max_output_tokens: 2 })
    const streamed = await client.responses.stream({ model, input: HELLO }).finalResponse()
    for (const response of [whole, streamed]) {
      expect(response).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
    }
  })

  it('raises what is refused, whole and streamed', async () => {
    const wrong = client.withOptions({ apiKey: 'sk-wrong' })
    for (const stream of [false, true]) {
      const refused = (more: object, kind: typeof client = client) =>
        raised(() => kind.responses.create({ model, input: HELLO, stream, ...more } as never))
      expect(await refused({}, wrong)).toBeInstanceOf(AuthenticationError)
      expect(await refused({ model: 'nope' })).toBeInstanceOf(NotFoundError)
      const kept = await refused({ previous_response_id: 'resp_1' })
      expect(kept).toBeInstanceOf(NotFoundError)
      expect(kept).toMatchObject({ param: 'previous_response_id', code: 'previous_response_not_found' })
      await upstream.script(model, [contextWindowExceeded()])
      expect(await refused({})).toMatchObject({ status: 400, code: 'context_length_exceeded' })
      await upstream.script(model, [rateLimited({ seconds: 7 })])
      const limited = await refused({})
      expect(limited).toBeInstanceOf(RateLimitError)
      expect((limited.headers as Headers).get('retry-after')).toBe('7')
    }
  })

  it.each([
    ['an error event', answer({}, errorEvent(3), slowBetween({ ms: 50, only: 3 }))],
    ['a cut', answer({}, cutAfter({ frames: 3 }))],
  ])('a stream that fails in the middle by %s', async (_, behaviour) => {
    await upstream.script(model, [behaviour])
    const events: OpenAI.Responses.ResponseStreamEvent[] = []
    const error = await raised(async () => {
      for await (const event of await client.responses.create({ model, input: HELLO, stream: true })) {
        events.push(event)
      }
    })
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'server_error' }, output: [{ content: [{ text: 'Hello, this' }] }] },
    })
    expect(error).toBeInstanceOf(APIError)
    const helping = await raised(() => client.responses.stream({ model, input: HELLO }).finalResponse())
    expect(helping).toBeInstanceOf(APIError)
  })

  it('a stream that the client ends is ended at the provider', async () => {
    await upstream.script(model, [answer({}, stallAfter({ frames: 4 }))])
    for await (const event of await client.responses.create({ model, input: HELLO, stream: true })) {
      if (event.type === 'response.output_text.delta') break
    }
    await seenLeaving(model)
  })
})
