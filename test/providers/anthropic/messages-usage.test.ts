import { expect, it } from 'vitest'
import { messagesUsage } from '../../../src/providers/anthropic/messages-usage.ts'

it('what a stream said at its start is not undone by a zero at its end', () => {
  const start = { input_tokens: 9, cache_read_input_tokens: 30, output_tokens: 1 }
  const end = { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 12 }
  expect(messagesUsage(start, end)).toMatchObject({ inputTokens: 39, cachedInputTokens: 30, outputTokens: 12 })
})

it('what every pass writes to the cache for an hour is counted', () => {
  const written = (tokens: number) => ({
    cache_creation_input_tokens: tokens,
    cache_creation: { ephemeral_1h_input_tokens: tokens, ephemeral_5m_input_tokens: 0 },
  })
  const compaction = { type: 'compaction', input_tokens: 500, output_tokens: 80, ...written(9000) }
  const message = { type: 'message', input_tokens: 7, output_tokens: 20, ...written(300) }
  const usage = { input_tokens: 7, output_tokens: 20, ...written(300), iterations: [compaction, message] }
  expect(messagesUsage(usage)).toMatchObject({
    inputTokens: 9807,
    cacheCreationInputTokens: 9300,
    cacheCreation1hInputTokens: 9300,
  })
})
