import { ChatOpenAI } from '@langchain/openai'
import { describe, expect, it } from 'vitest'
import { answer, contextWindowExceeded, cutAfter, errorEvent, slowBetween } from '../support/upstream/index.ts'
import {
  ADA,
  BASE_URL,
  HELLO,
  MASTER_KEY,
  PARAMETERS,
  PERSON,
  raised,
  TOOL_CALLS,
  TOOL_INPUTS,
  upstream,
} from './conversation.ts'

const model = 'langchain-responses'
const chat = new ChatOpenAI({
  model,
  apiKey: MASTER_KEY,
  configuration: { baseURL: BASE_URL },
  maxRetries: 0,
  useResponsesApi: true,
})
const tools = TOOL_CALLS.map(({ name }) => ({ type: 'function' as const, function: { name, parameters: PARAMETERS } }))
const called = TOOL_CALLS.map(({ id, name }, index) => ({ id, name, args: TOOL_INPUTS[index] }))

async function gathered(stream: Awaited<ReturnType<ChatOpenAI['stream']>>) {
  let whole: Awaited<ReturnType<(typeof stream)['next']>>['value']
  for await (const chunk of stream) whole = whole ? whole.concat(chunk) : chunk
  return whole
}

describe('@langchain/openai by way of responses', () => {
  it('gets an answer and its usage, whole and streamed', async () => {
    await upstream.script(model, [answer({ text: HELLO })])
    for (const message of [await chat.invoke(HELLO), await gathered(await chat.stream(HELLO))]) {
      expect(message?.text).toBe(HELLO)
      expect(message?.usage_metadata).toMatchObject({ input_tokens: 4, output_tokens: 4, total_tokens: 8 })
    }
  })

  it('gets parallel tool calls, whole and streamed', async () => {
    await upstream.script(model, [answer({ toolCalls: TOOL_CALLS })])
    const bound = chat.bindTools(tools)
    expect((await bound.invoke(HELLO)).tool_calls).toMatchObject(called)
    expect((await gathered(await bound.stream(HELLO)))?.tool_calls).toMatchObject(called)
  })

  it('gets structured output', async () => {
    await upstream.script(model, [answer({ text: JSON.stringify(ADA) })])
    const structured = chat.withStructuredOutput(PERSON, { name: 'person', method: 'jsonSchema', strict: true })
    expect(await structured.invoke(HELLO)).toEqual(ADA)
  })

  it('raises what is refused', async () => {
    await upstream.script(model, [contextWindowExceeded()])
    expect(await raised(() => chat.invoke(HELLO))).toMatchObject({ name: 'ContextOverflowError' })
    expect(await raised(() => chat.stream(HELLO))).toMatchObject({ name: 'ContextOverflowError' })
  })

  it.each([
    ['an error event', answer({}, errorEvent(3), slowBetween({ ms: 50, only: 3 }))],
    ['a cut', answer({}, cutAfter({ frames: 3 }))],
  ])('raises %s in the middle of a stream', async (_, behaviour) => {
    await upstream.script(model, [behaviour])
    let text = ''
    const error = await raised(async () => {
      for await (const chunk of await chat.stream(HELLO)) text += chunk.text
    })
    expect(text).toBe('Hello, this')
    expect(error).toBeInstanceOf(Error)
  })
})
