import { expect, it } from 'vitest'
import { messagesUsage } from '../../../src/providers/anthropic/messages-usage.ts'

it('what a stream said at its start is not undone by a zero at its end', () => {
  const start = { input_tokens: 9, cache_read_input_tokens: 30, output_tokens: 1 }
  const end = { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 12 }
  expect(messagesUsage(start, end)).toMatchObject({ inputTokens: 39, cachedInputTokens: 30, outputTokens: 12 })
})
