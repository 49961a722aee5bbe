import { expect, it } from 'vitest'
import { openaiChat } from '../../../src/providers/openai/chat.ts'
import { openaiChatStream } from '../../../src/providers/openai/chat-stream.ts'

it('an error of status 200 is told in its own letters', () => {
  const error = { type: 'invalid_request_error', message: 'Ungültig: 参数错误' }
  const bytes = new TextEncoder().encode(JSON.stringify({ error }))
  expect(() => openaiChat.reply(bytes, {}, { body: {} } as never)).toThrow('Ungültig: 参数错误')
})

const replied = (body: object) => () =>
  openaiChat.reply(new TextEncoder().encode(JSON.stringify(body)), {}, { body: {} } as never)
const message = { role: 'assistant', content: 'Half an' }

it('an answer without choices, or of which one failed, is none', () => {
  expect(replied({ choices: [] })).toThrow(expect.objectContaining({ failure: 'upstream_malformed' }))
  const failed = { index: 0, message, finish_reason: 'error' }
  expect(replied({ choices: [failed] })).toThrow(expect.objectContaining({ failure: 'upstream_failed' }))
  const limited = { ...failed, error: { code: 429, message: 'Slow down.' } }
  expect(replied({ choices: [limited] })).toThrow(expect.objectContaining({ failure: 'upstream_rate_limited' }))
  const interrupted = { ...failed, finish_reason: 'insufficient_system_resource' }
  expect(replied({ choices: [interrupted] })).toThrow(expect.objectContaining({ failure: 'upstream_failed' }))
  expect(replied({ choices: [{ index: 0, message, finish_reason: 'stop' }] })).not.toThrow()
})

// Without them nothing but an answer that ends too early would be told, and no fallback for longer prompts taken.
it.each<[string, string, object]>([
  ['FastAPI', '', { detail: 'The context length is exceeded.' }],
  [
    'Cloudflare',
    '',
    { errors: [{ message: 'Ü: exceeded this model context window limit', code: 5021 }], success: false },
  ],
  ['vLLM', '', { object: 'error', message: 'Above the maximum context length', type: 'BadRequestError', code: 400 }],
  ['another', 'event: error\n', { message: 'The context length is exceeded.' }],
])('an error of %s is one without a member that says so', (_, event, body) => {
  const data = `${event}data: ${JSON.stringify(body)}\n\n`
  const steps = openaiChatStream({ hideUsage: true }).push(new TextEncoder().encode(data))
  expect(steps).toMatchObject([{ failure: { failure: 'context_window' } }])
  if (event === '') expect(replied(body)).toThrow(expect.objectContaining({ failure: 'context_window' }))
})

it('a long answer of which a choice failed is none either', () => {
  const choices = [{ index: 0, message: { ...message, content: 'x'.repeat(20_000) }, finish_reason: 'abort' }]
  const usage = { prompt_tokens: 1, completion_tokens: 9_000, total_tokens: 9_001 }
  expect(replied({ choices, usage })).toThrow(expect.objectContaining({ failure: 'upstream_failed' }))
})

// Typed clients know chat's words alone, and other dialects take what they do not know for a whole answer.
it.each([
  ['eos', 'stop', 1],
  ['model_context_window_exceeded', 'length', 1],
  ['model_context_window_exceeded', 'length', 20_000],
  ['sensitive', 'content_filter', 1],
  ['stop', 'stop', 1],
])('a vendor’s own word for an end (%s) is chat’s (%s), behind %i characters', (word, expected, length) => {
  const usage = { prompt_tokens: 1, completion_tokens: 9, total_tokens: 10 }
  const content = `"finish_reason": "${'x'.repeat(length)}`
  const answer = { choices: [{ index: 0, message: { ...message, content }, finish_reason: word }], usage }
  const told = replied(answer)() as { bytes: Uint8Array; usage: object }
  const [choice] = JSON.parse(new TextDecoder().decode(told.bytes)).choices
  expect([choice.finish_reason, choice.message.content]).toEqual([expected, content])
  expect(told.usage).toMatchObject({ outputTokens: 9 })
  const chunk = { choices: [{ index: 0, delta: null, finish_reason: word }] }
  const [step] = openaiChatStream({ hideUsage: true }).push(
    new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`),
  )
  const streamed = JSON.parse(new TextDecoder().decode(step?.out).slice(6))
  expect([streamed.choices[0], step?.finished]).toEqual([{ index: 0, delta: null, finish_reason: expected }, true])
})

it.each(['error', 'insufficient_system_resource', 'abort', 'network_error'])(
  'a stream of which a choice failed (%s) says so instead of its end',
  (finish_reason) => {
    const chunk = { choices: [{ index: 0, delta: { content: '' }, finish_reason }] }
    const steps = openaiChatStream({ hideUsage: true }).push(
      new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`),
    )
    expect(steps).toMatchObject([{ failure: { failure: 'upstream_failed' } }])
  },
)

// A vendor that tells the input alone is not answered for nothing.
it.each([
  ['of which the usage leaves out the output', { prompt_tokens: 10 }, 'Half an'],
  ['of which the usage has no output', { prompt_tokens: 10, completion_tokens: 0 }, 'Half an'],
  ['that is long', { prompt_tokens: 10 }, 'x'.repeat(20_000)],
])('the characters of an answer %s are counted', (_, usage, content) => {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]
  const { usage: told, outputCharacters } = replied({ choices, usage })() as { usage: object; outputCharacters: number }
  expect(told).toMatchObject({ inputTokens: 10, outputTokens: 0 })
  expect(outputCharacters).toBe(content.length)
})

// Chat tells what was written to the cache, and not for how long.
it.each([
  ['12h', 60],
  ['30m', 0],
])('what a chat writes to the cache is kept for as long as its request asks: %s', (ttl, cacheCreation1hInputTokens) => {
  const body = { model: 'm', messages: [], prompt_cache_options: { ttl } }
  const usage = { prompt_tokens: 90, completion_tokens: 1, prompt_tokens_details: { cache_write_tokens: 60 } }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  const written = { cacheCreationInputTokens: 60, cacheCreation1hInputTokens }
  const whole = new TextEncoder().encode(JSON.stringify({ choices, usage }))
  expect(openaiChat.reply(whole, {}, { body } as never)).toMatchObject({ usage: written })
  const event = new TextEncoder().encode(`data: ${JSON.stringify({ choices: [], usage })}\n\n`)
  expect(openaiChat.stream?.({ body } as never, {}).push(event)).toMatchObject([{ usage: written }])
})
