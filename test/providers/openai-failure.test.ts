import { describe, expect, it } from 'vitest'
import { messagesFailure } from '../../src/providers/anthropic/messages-failure.ts'
import { openaiFailure } from '../../src/providers/openai-failure.ts'

const encoder = new TextEncoder()
const named = (status: number, body: object, read = openaiFailure) =>
  read(status, {}, encoder.encode(JSON.stringify(body)), 0).failure

describe('an input that is too large, in the words of', () => {
  it.each([
    ['xAI', "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
    ['llama.cpp', 'the request exceeds the available context size, try increasing it'],
    ['LM Studio', 'The number of tokens to keep from the prompt is greater than the context length.'],
    ['Together', 'The input (9000 tokens) is longer than the model’s context length (8192 tokens).'],
    ['Text Generation Inference', 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096.'],
    ['Moonshot', 'Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)'],
    ['Groq', 'Please reduce the length of the messages or completion.'],
  ])('%s', (_, message) => {
    expect(named(400, { error: { message, type: 'invalid_request_error' } })).toBe('context_window')
  })
})

describe('content that is refused, in the words of', () => {
  it.each([
    ['OpenAI', 'Invalid prompt: your prompt was flagged as potentially violating our usage policy.'],
    ['DeepSeek', 'Content Exists Risk'],
  ])('%s', (_, message) => {
    expect(named(400, { error: { message, type: 'invalid_request_error' } })).toBe('content_policy')
  })

  it('Anthropic', () => {
    const error = { type: 'invalid_request_error', message: 'Output blocked by content filtering policy' }
    expect(named(400, { type: 'error', error }, messagesFailure)).toBe('content_policy')
  })
})
