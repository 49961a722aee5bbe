import type { Clock } from '../../src/lib/clock.ts'

export interface TestClock extends Clock {
  set(milliseconds: number): void
  advance(milliseconds: number): void
}

/** Time stands still until the test moves it. */
export function testClock(start = Date.UTC(2026, 0, 15, 12, 0, 0)): TestClock {
  let now = start
  return {
    now: () => now,
    set: (milliseconds) => {
      now = milliseconds
    },
    advance: (milliseconds) => {
      now += milliseconds
    },
  }
}
