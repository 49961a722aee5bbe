import { describe, expect, it } from 'vitest'
import { budgetPeriod, readBudgetDuration } from '../../src/limits/budget-period.ts'

function period(duration: string, startedAt: string, now: string): string[] {
  const read = readBudgetDuration(duration)
  if (!read) throw new Error(`${duration} is no duration`)
  const { begins, ends } = budgetPeriod(read, Date.parse(startedAt), Date.parse(now))
  return [begins, ends].map((time) => new Date(time).toISOString())
}

describe('the period of a budget', () => {
  it.each([
    ['24h', '2026-01-01T10:00:00Z', '2026-01-03T09:59:59Z', '2026-01-02T10:00:00.000Z', '2026-01-03T10:00:00.000Z'],
    ['24h', '2026-01-01T10:00:00Z', '2026-01-03T10:00:00Z', '2026-01-03T10:00:00.000Z', '2026-01-04T10:00:00.000Z'],
    ['30d', '2026-01-01T00:00:00Z', '2026-03-05T00:00:00Z', '2026-03-02T00:00:00.000Z', '2026-04-01T00:00:00.000Z'],
    ['1w', '2026-01-01T00:00:00Z', '2026-01-07T23:59:59Z', '2026-01-01T00:00:00.000Z', '2026-01-08T00:00:00.000Z'],
    ['1mo', '2026-01-15T12:00:00Z', '2026-02-15T11:59:59Z', '2026-01-15T12:00:00.000Z', '2026-02-15T12:00:00.000Z'],
    ['1mo', '2026-01-15T12:00:00Z', '2026-02-15T12:00:00Z', '2026-02-15T12:00:00.000Z', '2026-03-15T12:00:00.000Z'],
    // The 31st of a month without one is its last day, and the month after has a 31st again.
    ['1mo', '2026-01-31T00:00:00Z', '2026-03-01T00:00:00Z', '2026-02-28T00:00:00.000Z', '2026-03-31T00:00:00.000Z'],
    ['1mo', '2026-01-31T00:00:00Z', '2026-04-01T00:00:00Z', '2026-03-31T00:00:00.000Z', '2026-04-30T00:00:00.000Z'],
    ['1mo', '2024-01-30T00:00:00Z', '2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z', '2024-03-30T00:00:00.000Z'],
    ['3mo', '2026-11-30T00:00:00Z', '2027-03-01T00:00:00Z', '2027-02-28T00:00:00.000Z', '2027-05-30T00:00:00.000Z'],
    ['1y', '2024-02-29T00:00:00Z', '2025-12-31T00:00:00Z', '2025-02-28T00:00:00.000Z', '2026-02-28T00:00:00.000Z'],
    // By a clock behind the one that started it, nothing of a budget is spent before its first period.
    ['1mo', '2026-03-10T00:00:00Z', '2026-03-09T00:00:00Z', '2026-03-10T00:00:00.000Z', '2026-04-10T00:00:00.000Z'],
    ['24h', '2026-03-10T00:00:01Z', '2026-03-10T00:00:00Z', '2026-03-10T00:00:01.000Z', '2026-03-11T00:00:01.000Z'],
  ])('%s from %s holds %s in %s … %s', (duration, startedAt, now, begins, ends) => {
    expect(period(duration, startedAt, now)).toEqual([begins, ends])
  })

  it('leaves no time out and counts none twice', () => {
    const startedAt = Date.UTC(2026, 0, 31, 13, 30)
    for (const duration of ['45m', '7h', '2d', '1w', '1mo', '5mo', '1y']) {
      const read = readBudgetDuration(duration)
      if (!read) throw new Error(duration)
      let { ends } = budgetPeriod(read, startedAt, startedAt)
      for (let count = 0; count < 60; count++) {
        expect(budgetPeriod(read, startedAt, ends - 1).ends, duration).toBe(ends)
        const next = budgetPeriod(read, startedAt, ends)
        expect(next.begins, duration).toBe(ends)
        ends = next.ends
      }
    }
  })

  it.each(['', '1', 'd', '0d', '-1d', '1.5h', '1 d', '1month', '123456d', 'mo'])('%j is no duration', (text) => {
    expect(readBudgetDuration(text)).toBeUndefined()
  })
})
