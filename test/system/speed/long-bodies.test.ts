import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { chatInit } from '../../support/gateway.ts'
import { withGateway } from '../../support/with-gateway.ts'

/** The length of each conversation, and of the longest text of it that may be parsed. */
const LONG = 300_000
const SHORT = 20_000

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const said = { role: 'assistant', content: 'Hi' }
const completion = { id: 'c', object: 'chat.completion', created: 1, model: 'm', usage }

/** Whole answers, by the beginning of the path that a provider is asked at. */
const ANSWERS: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { ...completion, choices: [{ index: 0, message: said, finish_reason: 'stop' }] },
  '/v1/messages': {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  '/v1/responses': {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'm',
    output: [
      {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
      },
    ],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  },
  '/v1beta/models/': {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  },
  '/v1/embeddings': {
    object: 'list',
    model: 'm',
    data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
    usage: { prompt_tokens: 1, total_tokens: 1 },
  },
}

const provider = createServer((request, response) => {
  request.resume().on('end', () => {
    const found = Object.entries(ANSWERS).find(([path]) => request.url?.startsWith(path))
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(found?.[1] ?? {}))
  })
})

const turns = Array.from({ length: 60 }, (_, turn) => ({ text: `${turn} ${'word '.repeat(LONG / 300)}` }))
const roles = (at: number, answering: string) => (at % 2 === 0 ? 'user' : answering)
const messages = turns.map(({ text }, at) => ({ role: roles(at, 'assistant'), content: text }))
const contents = turns.map(({ text }, at) => ({ role: roles(at, 'model'), parts: [{ text }] }))
const input = turns.map(({ text }, at) => ({ type: 'message', role: roles(at, 'assistant'), content: text }))

describe('a long body that goes to a provider of the same API', () => {
  const gateway = withGateway(async () => {
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
    const deployment = (group: string, model: string, base: string) =>
      `  - { model_name: ${group}, gateway_params: { model: ${model}, api_base: "${url}${base}", api_key: sk-up } }\n`
    return `model_list:\n${[
      deployment('openai', 'openai/gpt-4o', '/v1'),
      deployment('xai', 'xai/grok-4', '/v1'),
      deployment('deepseek', 'deepseek/deepseek-chat', '/v1'),
      deployment('groq', 'groq/llama', '/v1'),
      deployment('compatible', 'openai-compatible/own', '/v1'),
      deployment('anthropic', 'anthropic/claude-sonnet-4-5', ''),
      deployment('gemini', 'gemini/gemini-2.5-flash', ''),
    ].join('')}`
  })
  afterEach(() => void vi.restoreAllMocks())
  afterAll(() => void provider.close())

  it.each([
    ['openai', '/v1/chat/completions', { messages }],
    ['xai', '/v1/chat/completions', { messages }],
    // It wants a thought in each answer of a conversation, so that only one without answers is sent as it came.
    ['deepseek', '/v1/chat/completions', { messages: messages.map((said) => ({ ...said, role: 'user' })) }],
    ['groq', '/v1/chat/completions', { messages }],
    ['compatible', '/v1/chat/completions', { messages }],
    ['anthropic', '/v1/messages', { messages, max_tokens: 10 }],
    ['openai', '/v1/responses', { input, store: false }],
    ['gemini', '/v1beta/models/gemini:generateContent', { contents }],
    ['openai', '/v1/embeddings', { input: turns.map(({ text }) => text) }],
  ])('%s, %s: is not parsed', async (model, path, body) => {
    const text = JSON.stringify({ model, ...body })
    expect(text.length).toBeGreaterThan(LONG)
    const parsed: number[] = []
    const { parse } = JSON
    vi.spyOn(JSON, 'parse').mockImplementation((read, reviver) => {
      parsed.push(read.length)
      return parse(read, reviver)
    })
    const response = await gateway.fetch(path, chatInit(text))
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
    expect(parsed.length).toBeGreaterThan(0)
    expect(Math.max(...parsed)).toBeLessThan(SHORT)
  })
})
