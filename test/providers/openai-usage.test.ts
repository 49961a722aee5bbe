import { expect, it } from 'vitest'
import { count, openaiUsage } from '../../src/providers/openai-usage.ts'

it.each([
  [7, 7],
  [7.9, 7],
  [0, 0],
  [-1, 0],
  ['7', 0],
  [null, 0],
  [1e12, 1e12],
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
