import OpenAI from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { answer, slowBetween } from '../support/upstream/index.ts'
import { ADA, BASE_URL, HELLO, MASTER_KEY, PARAMETERS, sent, TOOL_CALLS, upstream } from './conversation.ts'

const client = new OpenAI({ apiKey: MASTER_KEY, baseURL: BASE_URL, maxRetries: 0 })
const model = 'openai-chat'
const messages = [{ role: 'user' as const, content: HELLO }]
const tools = TOOL_CALLS.map(({ name }) => ({
  type: 'function' as const,
  function: { name, parameters: PARAMETERS },
}))
const calls = TOOL_CALLS.map(({ id, name, arguments: text }) => ({
  id,
  type: 'function',
  function: { name, arguments: text },
}))

describe('openai: chat', () => {
  it('lists and retrieves the models', async () => {
    const listed: string[] = []
    for await (const entry of client.models.list()) listed.push(entry.id)
    expect(listed).toContain('echo')
    expect(listed).toEqual([...listed].sort())
    expect(await client.models.retrieve(model)).toMatchObject({ id: model, object: 'model', owned_by: 'gateway' })
  })

  it('gets an answer, its usage and its request id', async () => {
    await upstream.script(model, [answer({ text: 'Hi.', reasoning: 'A greeting.' })])
    const { data, response, request_id } = await client.chat.completions
      .create({ model, messages, seed: 7, temperature: 0.5 })
      .withResponse()
    expect(data.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: 'Hi.', reasoning_content: 'A greeting.' },
    })
    expect(data.usage).toMatchObject({ prompt_tokens: 4, completion_tokens: 3, total_tokens: 7 })
    expect(request_id).toBe(response.headers.get('x-request-id'))
    expect(request_id).toBeTruthy()
    expect(await sent(model)).toEqual({ model, messages, seed: 7, temperature: 0.5 })
  })

  it('streams, with usage only when it asks for it', async () => {
    await upstream.script(model, [answer({ text: HELLO })])
    const chunks: OpenAI.ChatCompletionChunk[] = []
    for await (const chunk of await client.chat.completions.create({ model, messages, stream: true })) {
      chunks.push(chunk)
    }
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(HELLO)
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop')
    expect(chunks.every((chunk) => chunk.choices.length === 1 && !chunk.usage)).toBe(true)

    const final = await client.chat.completions
      .stream({ model, messages, stream_options: { include_usage: true } })
      .finalChatCompletion()
    expect(final.choices[0]?.message.content).toBe(HELLO)
    expect(final.usage).toMatchObject({ prompt_tokens: 4, completion_tokens: 4 })
  })

  it('sees each piece as it comes', async () => {
    await upstream.script(model, [answer({ text: 'one two three' }, slowBetween({ ms: 60 }))])
    const times: number[] = []
    for await (const chunk of await client.chat.completions.create({ model, messages, stream: true })) {
      if (chunk.choices[0]?.delta.content) times.push(performance.now())
    }
    const [first = 0, , third = 0] = times
    expect(times).toHaveLength(3)
    expect(third - first).toBeGreaterThan(90)
  })

  it('gets parallel tool calls, whole and streamed, and answers them', async () => {
    await upstream.script(model, [answer({ toolCalls: TOOL_CALLS })])
    const whole = await client.chat.completions.create({ model, messages, tools, parallel_tool_calls: true })
    expect(whole.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } })
    expect(whole.choices[0]?.message.tool_calls).toEqual(calls)

    const streamed = await client.chat.completions.stream({ model, messages, tools }).finalChatCompletion()
    expect(streamed.choices[0]?.finish_reason).toBe('tool_calls')
    expect(streamed.choices[0]?.message.tool_calls).toMatchObject(calls)

    const results = TOOL_CALLS.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: '21' }))
    const message = whole.choices[0]?.message as OpenAI.ChatCompletionMessage
    await upstream.script(model, [answer({ text: 'It is 21.' })])
    await client.chat.completions.create({ model, messages: [...messages, message, ...results], tools })
    expect((await sent(model)).messages).toEqual([...messages, message, ...results])
  })

  it('runs tools by itself until the model has its answer', async () => {
    await upstream.script(model, [answer({ toolCalls: TOOL_CALLS }), answer({ text: 'Warm.' })])
    const asked: unknown[] = []
    const runner = client.chat.completions.runTools({
      model,
      messages: [...messages],
      tools: TOOL_CALLS.map(({ name }) => ({
        type: 'function' as const,
        function: {
          name,
          description: 'Tells it.',
          parameters: PARAMETERS,
          parse: JSON.parse,
          function: (input: object) => {
            asked.push(input)
            return '21'
          },
        },
      })),
    })
    expect(await runner.finalContent()).toBe('Warm.')
    expect(asked).toEqual(TOOL_CALLS.map((call) => JSON.parse(call.arguments)))
  })

  it('parses a structured answer, whole and streamed', async () => {
    await upstream.script(model, [answer({ text: JSON.stringify(ADA) })])
    const response_format = zodResponseFormat(z.object({ name: z.string(), age: z.int() }), 'person')
    const whole = await client.chat.completions.parse({ model, messages, response_format })
    expect(whole.choices[0]?.message.parsed).toEqual(ADA)
    expect((await sent(model)).response_format).toEqual(JSON.parse(JSON.stringify(response_format)))
    const streamed = await client.chat.completions.stream({ model, messages, response_format }).finalChatCompletion()
    expect(streamed.choices[0]?.message.parsed).toEqual(ADA)
  })

  it('asks for several choices and keeps them apart', async () => {
    await upstream.script(model, [answer({ text: 'Hi you.' })])
    const { choices } = await client.chat.completions.stream({ model, messages, n: 2 }).finalChatCompletion()
    expect(choices.map(({ index, message }) => [index, message.content])).toEqual([
      [0, 'Hi you.'],
      [1, 'Hi you.'],
    ])
  })

  it('completes a prompt, whole and streamed', async () => {
    await upstream.script(model, [answer({ text: HELLO })])
    const { choices, usage } = await client.completions.create({ model, prompt: 'Say hello.', max_tokens: 9 })
    expect(choices).toMatchObject([{ text: HELLO, finish_reason: 'stop' }])
    expect(usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 4 })
    expect(await sent(model)).toMatchObject({ messages: [{ role: 'user', content: 'Say hello.' }] })
    let text = ''
    for await (const piece of await client.completions.create({ model, prompt: 'Say hello.', stream: true })) {
      text += piece.choices[0]?.text ?? ''
    }
    expect(text).toBe(HELLO)
  })
})
