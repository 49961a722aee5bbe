import { expect, it } from 'vitest'
import { retryAfterSeconds } from '../../src/lib/retry-after.ts'

const NOW = Date.UTC(2026, 10, 21, 10, 0, 0)

it.each([
  ['7', 7],
  [' 0.5 ', 0.5],
  ['Sat, 21 Nov 2026 10:00:05 GMT', 5],
  ['Sat, 21 Nov 2026 09:00:00 GMT', 0],
  ['99999999999', 86_400],
  ['Fri, 31 Dec 9999 23:59:59 GMT', 86_400],
  ['5, 10', undefined],
  ['-5', undefined],
  ['soon', undefined],
  ['', undefined],
])('retry-after: %s', (value, seconds) => {
  expect(retryAfterSeconds({ 'retry-after': value }, NOW)).toBe(seconds)
})

it.each([
  [String(NOW / 1000 + 20), 20],
  [String(NOW + 20_000), 20],
  [String(NOW - 20_000), 0],
  ['250ms', 0.25],
  ['1h1s', 3601],
  ['9d', 86_400],
])('x-ratelimit-reset: %s', (value, seconds) => {
  expect(retryAfterSeconds({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': value }, NOW)).toBe(seconds)
})

it('milliseconds come before it, and resets where it says nothing', () => {
  expect(retryAfterSeconds({ 'retry-after-ms': '350', 'retry-after': '7' }, NOW)).toBe(0.35)
  const resets = { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1m30s' }
  expect(retryAfterSeconds({ 'retry-after': 'soon', ...resets }, NOW)).toBe(90)
  expect(retryAfterSeconds({ 'x-ratelimit-remaining-tokens': '5', 'x-ratelimit-reset-tokens': '9s' }, NOW)).toBe(
    undefined,
  )
})
