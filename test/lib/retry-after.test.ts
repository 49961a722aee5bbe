import { expect, it } from 'vitest'
import { retryAfterSeconds } from '../../src/lib/retry-after.ts'

const NOW = Date.UTC(2026, 10, 21, 10, 0, 0)

it.each([
  ['7', 7],
  [' 0.5 ', 0.5],
  ['Sat, 21 Nov 2026 10:00:05 GMT', 5],
  ['Sat, 21 Nov 2026 09:00:00 GMT', 0],
  ['5, 10', undefined],
  ['-5', undefined],
  ['soon', undefined],
  ['', undefined],
])('retry-after: %s', (value, seconds) => {
  expect(retryAfterSeconds({ 'retry-after': value }, NOW)).toBe(seconds)
})

it('milliseconds come before it, and resets where it says nothing', () => {
  expect(retryAfterSeconds({ 'retry-after-ms': '350', 'retry-after': '7' }, NOW)).toBe(0.35)
  const resets = { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1m30s' }
  expect(retryAfterSeconds({ 'retry-after': 'soon', ...resets }, NOW)).toBe(90)
  expect(retryAfterSeconds({ 'x-ratelimit-remaining-tokens': '5', 'x-ratelimit-reset-tokens': '9s' }, NOW)).toBe(
    undefined,
  )
})
