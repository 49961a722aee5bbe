import type { Clock } from '../../lib/clock.ts'

/** The clock of the shared store, as far as its answers have told it. The periods of budgets go by it, so that they begin
 *  for all processes at once, whatever the clock of one of them says. */
export interface StoreClock extends Clock {
  /** Notes the time of an answer of the store that was asked at `askedAt`, by the process's own clock. */
  learn(storeNow: number, askedAt: number): void
}

export function storeClock(clock: Clock): StoreClock {
  let aheadMs = 0
  return {
    now: () => clock.now() + aheadMs,
    learn(storeNow, askedAt) {
      // The answer was made at some time since: both clocks may be the same if that time is among these.
      const [least, most] = [storeNow - clock.now(), storeNow - askedAt]
      aheadMs = Math.min(most, Math.max(least, 0))
    },
  }
}
