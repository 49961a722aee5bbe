import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { ChatOpenAI, type ChatOpenAIFields, OpenAIEmbeddings } from '@langchain/openai'
import { describe, expect, it } from 'vitest'
import {
  answer,
  badRequest,
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
  PERSON,
  raised,
  seenLeaving,
  sent,
  TOOL_CALLS,
  TOOL_INPUTS,
  upstream,
} from './conversation.ts'

const model = 'langchain'
const configuration = { baseURL: BASE_URL }
const chat = (fields: ChatOpenAIFields = {}) =>
  new ChatOpenAI({ model, apiKey: MASTER_KEY, configuration, maxRetries: 0, ...fields })
const embeddings = (encodingFormat?: 'float') =>
  new OpenAIEmbeddings({
    model,
    apiKey: MASTER_KEY,
    configuration,
    maxRetries: 0,
    ...(encodingFormat ? { encodingFormat } : {}),
  })
const tools = TOOL_CALLS.map(({ name }) => ({ type: 'function' as const, function: { name, parameters: PARAMETERS } }))
const called = TOOL_CALLS.map(({ id, name }, index) => ({ id, name, args: TOOL_INPUTS[index] }))

async function gathered(stream: Awaited<ReturnType<ChatOpenAI['stream']>>) {
  let whole: Awaited<ReturnType<(typeof stream)['next']>>['value']
  for await (const chunk of stream) whole = whole ? whole.concat(chunk) : chunk
  return whole
}

describe('@langchain/openai', () => {
  it('gets an answer and its usage', async () => {
    await upstream.script(model, [answer({ text: 'Hi you.' })])
    const message = await chat().invoke(HELLO)
    expect(message.text).toBe('Hi you.')
    expect(message.usage_metadata).toMatchObject({ input_tokens: 4, output_tokens: 2, total_tokens: 6 })
    expect(message.response_metadata).toMatchObject({ finish_reason: 'stop' })
  })

  it('streams an answer and its usage', async () => {
    await upstream.script(model, [answer({ text: HELLO })])
    const whole = await gathered(await chat().stream(HELLO))
    expect(whole?.text).toBe(HELLO)
    expect(whole?.usage_metadata).toMatchObject({ input_tokens: 4, output_tokens: 4 })
  })

  it('gets parallel tool calls, whole and streamed, and answers them', async () => {
    await upstream.script(model, [answer({ toolCalls: TOOL_CALLS })])
    const bound = chat().bindTools(tools)
    const whole = await bound.invoke(HELLO)
    expect(whole.tool_calls).toMatchObject(called)
    expect((await gathered(await bound.stream(HELLO)))?.tool_calls).toMatchObject(called)

    await upstream.script(model, [answer({ text: 'Warm.' })])
    const results = TOOL_CALLS.map(({ id }) => new ToolMessage({ tool_call_id: id, content: '21' }))
    expect((await bound.invoke([new HumanMessage(HELLO), whole, ...results])).text).toBe('Warm.')
    const { messages } = (await sent(model)) as { messages: { role: string }[] }
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool'])
  })

  it('gets structured output', async () => {
    await upstream.script(model, [answer({ text: JSON.stringify(ADA) })])
    const structured = chat().withStructuredOutput(PERSON, { name: 'person', method: 'jsonSchema', strict: true })
    expect(await structured.invoke(HELLO)).toEqual(ADA)
    expect(await sent(model)).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { name: 'person', schema: PERSON, strict: true } },
    })
  })

  it('embeds, as base64 unless it is told otherwise', async () => {
    await upstream.script(model, [answer()])
    const decoded = await embeddings().embedDocuments(['one', 'two'])
    expect(await sent(model)).toMatchObject({ encoding_format: 'base64' })
    expect(decoded.map((vector) => vector.length)).toEqual([8, 8])
    expect(await embeddings('float').embedDocuments(['one', 'two'])).toEqual(decoded)
    expect(await sent(model)).toMatchObject({ encoding_format: 'float' })
  })

  it('raises a wrong key and an unknown model', async () => {
    const key = await raised(() => chat({ apiKey: 'sk-wrong' }).invoke(HELLO))
    expect(key).toMatchObject({ status: 401, code: 'invalid_api_key' })
    const unknown = await raised(() => chat({ model: 'nope' }).invoke(HELLO))
    expect(unknown).toMatchObject({ status: 404, code: 'model_not_found' })
  })

  it.each([
    ['a rate limit', rateLimited({ seconds: 7 }), { status: 429, code: 'upstream_rate_limited' }],
    ['a body that the provider refuses', badRequest(), { status: 400, code: 'invalid_type' }],
  ])('raises %s, whole and streamed', async (_, behaviour, failure) => {
    await upstream.script(model, [behaviour])
    expect(await raised(() => chat().invoke(HELLO))).toMatchObject(failure)
    expect(await raised(() => chat().stream(HELLO))).toMatchObject(failure)
  })

  it('knows a context window that is too small', async () => {
    await upstream.script(model, [contextWindowExceeded()])
    const error = await raised(() => chat().invoke(HELLO))
    expect(error.name).toBe('ContextOverflowError')
  })

  it.each([
    ['an error event', answer({}, errorEvent(3), slowBetween({ ms: 50, only: 3 })), 'upstream_failed'],
    ['a cut', answer({}, cutAfter({ frames: 3 })), 'upstream_truncated'],
  ])('raises %s in the middle of a stream', async (_, behaviour, code) => {
    await upstream.script(model, [behaviour])
    let text = ''
    const error = await raised(async () => {
      for await (const chunk of await chat().stream(HELLO)) text += chunk.text
    })
    expect(text).toBe('Hello, this')
    expect(error).toMatchObject({ code })
  })

  it('ends the call at the provider when it leaves', async () => {
    await upstream.script(model, [answer({}, stallAfter({ frames: 4 }))])
    const controller = new AbortController()
    const error = await raised(async () => {
      for await (const chunk of await chat().stream(HELLO, { signal: controller.signal })) {
        if (chunk.text) controller.abort()
      }
    })
    expect(String(error)).toMatch(/abort/i)
    await seenLeaving(model)
  })
})
