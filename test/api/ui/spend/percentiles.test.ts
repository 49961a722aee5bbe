import { expect, it } from 'vitest'
import { percentile } from '../../../../src/api/ui/spend/percentiles.ts'
import { LATENCY_BOUNDS } from '../../../../src/stores/sql/spend/latency-sums.ts'

const counts = (filled: Readonly<Record<number, number>>) =>
  Array.from({ length: LATENCY_BOUNDS.length + 1 }, (_, index) => filled[index] ?? 0)

it('is found within the bucket that the share ends in', () => {
  expect(percentile(counts({}), 0.5)).toBe(null)
  expect(percentile(counts({ 0: 10 }), 0.5)).toBe(50)
  expect(percentile(counts({ 4: 100 }), 0.5)).toBe(600)
  expect(percentile(counts({ 0: 90, 5: 10 }), 0.95)).toBe(1200)
  expect(percentile(counts({ 0: 1, 3: 1 }), 0.5)).toBe(50)
})

it('is at least the last bound beyond it', () => {
  expect(percentile(counts({ 0: 1, 12: 9 }), 0.99)).toBe(102_400)
})
