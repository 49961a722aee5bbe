import { expect, it } from 'vitest'
import { responsesUsage } from '../../../src/providers/openai/responses-usage.ts'
import { count, openaiUsage } from '../../../src/providers/openai/usage.ts'

it.each([
  [7, 7],
  [7.9, 7],
  [0, 0],
  [-1, 0],
  ['7', 0],
  [null, 0],
  [1e9, 1e9],
  [1e9 + 1, 0],
  [1e308, 0],
  [Number.POSITIVE_INFINITY, 0],
  [Number.NaN, 0],
])('%s of something is %i', (sent, counted) => {
  expect(count(sent)).toBe(counted)
})

it('usage that nobody can have is none, so that it is estimated', () => {
  expect(openaiUsage({ prompt_tokens: 1e308, completion_tokens: 1e308 })).toBeUndefined()
  expect(openaiUsage({ prompt_tokens: 5, completion_tokens: 1e308 })).toMatchObject({ inputTokens: 5, outputTokens: 0 })
})

// xAI counts 317 thoughts beside 2 tokens of output, and bills both.
it.each([
  ['beside', { completion_tokens: 2, total_tokens: 331 }, 319],
  ['within', { completion_tokens: 319, total_tokens: 331 }, 319],
  ['without a sum within', { completion_tokens: 319 }, 319],
])('thoughts %s the output are output', (_, told, outputTokens) => {
  const usage = { prompt_tokens: 12, completion_tokens_details: { reasoning_tokens: 317 }, ...told }
  expect(openaiUsage(usage)).toMatchObject({ inputTokens: 12, outputTokens, reasoningTokens: 317 })
})

it.each([
  ['Moonshot and Together', { cached_tokens: 30 }, { cachedInputTokens: 30 }],
  ['DeepSeek', { prompt_cache_hit_tokens: 30 }, { cachedInputTokens: 30 }],
  [
    'OpenRouter',
    { prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 20 } },
    { cachedInputTokens: 30, cacheCreationInputTokens: 20 },
  ],
  [
    'OpenAI, where some of it is kept for twelve hours',
    {
      prompt_tokens_details: {
        cached_tokens: 30,
        cache_write_tokens: 50,
        cache_write_tokens_details: { ttl_30m_tokens: 20, ttl_12h_tokens: 30 },
      },
    },
    { cachedInputTokens: 30, cacheCreationInputTokens: 50, cacheCreation1hInputTokens: 30 },
  ],
])('what the cache gave and took is read where it is told: %s', (_, told, read) => {
  expect(openaiUsage({ prompt_tokens: 100, completion_tokens: 1, ...told })).toMatchObject({
    inputTokens: 100,
    ...read,
  })
})

it.each([
  [
    'as OpenRouter charges',
    { cost: 0.0012, is_byok: false, cost_details: { upstream_inference_cost: 0.0012 } },
    1_200_000,
  ],
  ['as Perplexity bills', { cost: { currency: 'USD', total_cost: 0.0026, tool_calls_cost: 0.0025 } }, 2_600_000],
  ['as xAI bills', { cost_in_usd_ticks: 37_756_000 }, 3_775_600],
  ['as xAI bills what is free', { cost_in_usd_ticks: 0 }, 0],
  ['in no ticks that anybody can owe', { cost_in_usd_ticks: 1e308 }, undefined],
  ['nothing', { cost: 0, cost_details: {} }, 0],
  [
    'with what the vendor charges',
    { cost: 0.95, is_byok: true, cost_details: { upstream_inference_cost: 19 } },
    19.95e9,
  ],
  ['unless that is unknown', { cost: 0.95, is_byok: true }, undefined],
  ['in no currency that is known', { cost: 0.95 }, undefined],
  ['never less than nothing', { cost: -1, is_byok: false }, undefined],
  ['in parts', { cost: { total_cost: 0.95 }, cost_details: {} }, undefined],
])('what a call has cost is read where it is told: %s', (_, told, reportedNano) => {
  expect(openaiUsage({ prompt_tokens: 100, completion_tokens: 1, ...told })?.reportedNano).toBe(reportedNano)
})

it.each([
  [{}, 2],
  [{ tool_usage: { image_gen: {}, web_search: { num_requests: 1 } } }, 1],
])('searches are those that are billed, where it is told: %o', (told, web_search) => {
  const searched = { type: 'web_search_call', id: 'ws', status: 'completed', action: { type: 'search' } }
  const response = { output: [searched, searched], usage: { input_tokens: 9, output_tokens: 1 }, ...told }
  expect(responsesUsage(response)?.toolUses).toEqual({ web_search })
})

it.each(['prompt_tokens_details', 'input_tokens_details', 'input_token_details'])(
  'sound is read from %s',
  (details) => {
    const told = { input_tokens: 14, output_tokens: 45, [details]: { text_tokens: 4, audio_tokens: 10 } }
    expect(openaiUsage(told)).toMatchObject({ inputTokens: 14, audioInputTokens: 10, outputTokens: 45 })
  },
)
