import { describe, expect, it } from 'vitest'
import { openaiChat } from '../../../src/providers/openai/chat.ts'
import { openaiEmbeddings, openaiImages } from '../../../src/providers/openai/modes.ts'
import type { Adapter, Outgoing } from '../../../src/providers/provider.ts'
import { usageAtEnd } from '../../../src/providers/wire/usage-at-end.ts'

const bytesOf = (value: unknown) => new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
const vectors = Array.from({ length: 30 }, (_, index) => ({ index, embedding: Array(1024).fill(0.12345) }))
const usage = { prompt_tokens: 8, total_tokens: 8, prompt_tokens_details: { cached_tokens: 3 } }
const call = { body: { model: 'm' } } as unknown as Outgoing<never>
const read = (adapter: Adapter<never>, value: unknown) => adapter.reply(bytesOf(value), {}, call)

describe('usage at the end of a large answer', () => {
  it('is what the whole answer says', () => {
    const whole = { object: 'list', data: vectors, model: 'm', usage, extra: { a: [1] } }
    expect(usageAtEnd(bytesOf(whole), 'data')).toMatchObject({ inputTokens: 8, cachedInputTokens: 3 })
    expect(read(openaiEmbeddings as Adapter<never>, whole).usage).toMatchObject({
      inputTokens: 8,
      cachedInputTokens: 3,
    })
  })

  it.each([
    ['as long as one vector', { data: vectors.slice(0, 2), usage }],
    ['indented', JSON.stringify({ data: vectors, usage }, null, 2)],
    ['one that speaks of errors', { data: [...vectors, { text: 'an "error": "usage":{}' }], usage }],
  ])('is told of an answer that is %s', (_, value) => {
    expect(usageAtEnd(bytesOf(value), 'data')).toMatchObject({ inputTokens: 8 })
  })

  it.each([
    ['short', { data: [], usage }],
    ['a failure', { error: { message: 'no' }, data: vectors, usage }],
    ['a failure behind all its data', { data: vectors, error: { message: 'no' }, usage }],
    ['without any data', { data: null, text: 'x'.repeat(10_000), usage }],
    ['with its usage elsewhere', { usage, data: vectors }],
    ['without usage', { data: vectors }],
    ['without the member', { other: vectors, usage }],
    ['a list', [vectors, { usage }]],
    ['of a usage inside another member', { data: vectors, more: { usage } }],
    ['cut', JSON.stringify({ data: vectors, usage }).slice(0, -1).padEnd(70_000)],
  ])('is not told of an answer that is %s', (_, value) => {
    expect(usageAtEnd(bytesOf(value), 'data')).toBeUndefined()
  })

  it('is the answer’s own, not one inside another member behind it', () => {
    const both = { data: vectors, usage, x_groq: { usage: { prompt_tokens: 99, completion_tokens: 99 } } }
    expect(usageAtEnd(bytesOf(both), 'data')).toMatchObject({ inputTokens: 8 })
  })

  it('is looked for in the whole answer where it does not stand there', () => {
    const early = { usage, data: vectors }
    expect(read(openaiEmbeddings as Adapter<never>, early).usage).toMatchObject({ inputTokens: 8 })
    const images = { data: [{ b64_json: 'A'.repeat(100_000) }, {}], usage: { input_tokens: 5, output_tokens: 6 } }
    expect(read(openaiImages as Adapter<never>, images).usage).toMatchObject({ images: 2, outputTokens: 6 })
  })

  it.each([
    ['embeddings', openaiEmbeddings as Adapter<never>, JSON.stringify({ data: vectors, usage }).slice(0, -2)],
    ['embeddings', openaiEmbeddings as Adapter<never>, JSON.stringify({ other: vectors, usage })],
    ['chat', openaiChat as Adapter<never>, JSON.stringify({ choices: vectors, usage }).slice(0, -2)],
  ])('never makes a large answer of %s whole that is not (%#)', (_, adapter, text) => {
    expect(() => read(adapter, text)).toThrow(expect.objectContaining({ failure: 'upstream_malformed' }))
  })
})
