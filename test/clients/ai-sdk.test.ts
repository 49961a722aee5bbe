import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  APICallError,
  embedMany,
  generateImage,
  generateText,
  isStepCount,
  jsonSchema,
  Output,
  streamText,
  tool,
} from 'ai'
import { describe, expect, it } from 'vitest'
import {
  answer,
  badRequest,
  contextWindowExceeded,
  cutAfter,
  errorEvent,
  json,
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

const name = 'ai-sdk'
const settings = { name: 'gateway', baseURL: BASE_URL, includeUsage: true, supportsStructuredOutputs: true }
const gateway = createOpenAICompatible({ ...settings, apiKey: MASTER_KEY })
const asked = { model: gateway(name), prompt: HELLO, maxRetries: 0 }
const toolOf = () =>
  tool({ inputSchema: jsonSchema<Record<string, string>>(PARAMETERS), execute: async ({ city }) => `21 in ${city}` })
const tools = { weather: toolOf(), time: toolOf() }
const person = Output.object({ schema: jsonSchema<typeof ADA>(PERSON) })

/** Reads a stream to its end; what it holds of errors is given, not thrown, as this client does. */
async function readStream(behaviour: Parameters<typeof upstream.script>[1][number], abortSignal?: AbortSignal) {
  await upstream.script(name, [behaviour])
  const errors: unknown[] = []
  const result = streamText({
    ...asked,
    ...(abortSignal ? { abortSignal } : {}),
    onError: ({ error }) => void errors.push(error),
  })
  const parts: string[] = []
  let text = ''
  for await (const part of result.fullStream) {
    parts.push(part.type)
    if (part.type === 'text-delta') text += part.text
  }
  return { result, errors, parts, text }
}

describe('ai with @ai-sdk/openai-compatible', () => {
  it('gets an answer with its reasoning and usage', async () => {
    await upstream.script(name, [answer({ text: 'Hi you.', reasoning: 'A greeting.' })])
    const { text, reasoningText, finishReason, usage } = await generateText(asked)
    expect({ text, reasoningText, finishReason }).toEqual({
      text: 'Hi you.',
      reasoningText: 'A greeting.',
      finishReason: 'stop',
    })
    expect(usage).toMatchObject({ inputTokens: 4, outputTokens: 4, totalTokens: 8 })
    expect(usage.outputTokenDetails.reasoningTokens).toBe(2)
  })

  it('streams an answer with its reasoning and usage', async () => {
    const { result, errors, text } = await readStream(answer({ text: HELLO, reasoning: 'A greeting.' }))
    expect(errors).toEqual([])
    expect(text).toBe(HELLO)
    expect(await result.reasoningText).toBe('A greeting.')
    expect(await result.finishReason).toBe('stop')
    expect(await result.usage).toMatchObject({ inputTokens: 4, outputTokens: 6 })
  })

  it('calls tools in parallel and goes on with their results, whole and streamed', async () => {
    for (const run of [generateText, streamText]) {
      await upstream.script(name, [answer({ toolCalls: TOOL_CALLS }), answer({ text: 'Warm.' })])
      const result = await run({ ...asked, tools, stopWhen: isStepCount(3) })
      expect(await result.text).toBe('Warm.')
      const [first] = await result.steps
      expect(first?.toolCalls.map(({ toolCallId, input }) => [toolCallId, input])).toEqual(
        TOOL_CALLS.map(({ id }, index) => [id, TOOL_INPUTS[index]]),
      )
      const { messages } = (await sent(name)) as { messages: { role: string; tool_call_id?: string }[] }
      expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool'])
      expect(messages.slice(2).map((message) => message.tool_call_id)).toEqual(['call_a', 'call_b'])
    }
  })

  it('gets structured output, whole and streamed', async () => {
    await upstream.script(name, [answer({ text: JSON.stringify(ADA) })])
    expect((await generateText({ ...asked, output: person })).output).toEqual(ADA)
    expect(await sent(name)).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { schema: PERSON } },
    })
    const partial: unknown[] = []
    const { partialOutputStream, output } = streamText({ ...asked, output: person })
    for await (const piece of partialOutputStream) partial.push(piece)
    expect(partial.at(-1)).toEqual(ADA)
    expect(await output).toEqual(ADA)
  })

  it('embeds', async () => {
    await upstream.script(name, [answer()])
    const { embeddings, usage } = await embedMany({
      model: gateway.embeddingModel(name),
      values: ['one', 'two'],
      maxRetries: 0,
    })
    expect(embeddings.map((vector) => vector.length)).toEqual([8, 8])
    expect(usage.tokens).toBe(2)
    expect(await sent(name)).toMatchObject({ input: ['one', 'two'], encoding_format: 'float' })
  })

  it('draws', async () => {
    await upstream.script(name, [json(200, { created: 1_760_000_000, data: [{ b64_json: 'iVBORw0K' }] })])
    const model = gateway.imageModel(name)
    const { image } = await generateImage({ model, prompt: 'A cat.', size: '1024x1024', maxRetries: 0 })
    expect(image.base64).toBe('iVBORw0K')
    expect(await sent(name)).toMatchObject({ prompt: 'A cat.', size: '1024x1024', n: 1 })
  })

  it('raises a wrong key and an unknown model', async () => {
    const wrong = createOpenAICompatible({ ...settings, apiKey: 'sk-wrong' })
    const key = await raised(() => generateText({ ...asked, model: wrong(name) }))
    expect(key).toBeInstanceOf(APICallError)
    expect(key).toMatchObject({ statusCode: 401, isRetryable: false })
    const unknown = await raised(() => generateText({ ...asked, model: gateway('nope') }))
    expect(unknown).toMatchObject({ statusCode: 404, data: { error: { code: 'model_not_found' } } })
  })

  it.each([
    ['a rate limit', rateLimited({ seconds: 7 }), 429, true, 'upstream_rate_limited'],
    ['a body that the provider refuses', badRequest(), 400, false, 'invalid_type'],
    ['a context window that is too small', contextWindowExceeded(), 400, false, 'context_length_exceeded'],
  ])('raises %s, whole and streamed', async (_, behaviour, statusCode, isRetryable, code) => {
    await upstream.script(name, [behaviour])
    const error = await raised(() => generateText(asked))
    expect(error).toBeInstanceOf(APICallError)
    expect(error).toMatchObject({ statusCode, isRetryable, data: { error: { code } } })
    if (statusCode === 429) expect(error).toMatchObject({ responseHeaders: { 'retry-after': '7' } })
    const { errors, parts } = await readStream(behaviour)
    expect(errors).toMatchObject([{ statusCode }])
    expect(parts).toContain('error')
  })

  it.each([
    ['an error event', answer({}, errorEvent(3), slowBetween({ ms: 50, only: 3 }))],
    ['a cut', answer({}, cutAfter({ frames: 3 }))],
  ])('raises %s in the middle of a stream', async (_, behaviour) => {
    const { result, errors, parts, text } = await readStream(behaviour)
    expect(text).toBe('Hello, this')
    expect(errors).toHaveLength(1)
    expect(parts).toContain('error')
    await expect(result.finishReason).resolves.toBe('error')
  })

  it('ends the call at the provider when it leaves', async () => {
    const controller = new AbortController()
    const reading = readStream(answer({}, stallAfter({ frames: 4 })), controller.signal)
    await upstream.until(name, (calls) => (calls.at(-1)?.writes ?? 0) >= 4 && calls.at(-1)?.outcome === 'running')
    controller.abort()
    expect((await reading).parts.at(-1)).toBe('abort')
    await seenLeaving(name)
  })
})
