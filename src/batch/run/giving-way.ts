import type { Foreground } from '../../pipeline/foreground.ts'

/** How long after a client's call items give way to clients. */
const BUSY_MS = 1000
/** The most items that run meanwhile, and the interval at which one may start. */
const MOST_MEANWHILE = 2
const START_EVERY_MS = 10

/** Lets the calls of clients go before the items of batches. */
export interface GivingWay {
  /** How long the next item waits before it may start; undefined: until another one has ended. */
  waitMs(running: number, now: number): number | undefined
  started(now: number): void
}

export function givingWay(foreground: Foreground): GivingWay {
  let startedAt = Number.NEGATIVE_INFINITY
  return {
    waitMs(running, now) {
      if (now - foreground.lastAt > BUSY_MS) return 0
      if (running >= MOST_MEANWHILE) return undefined
      return Math.max(0, startedAt + START_EVERY_MS - now)
    },
    started(now) {
      startedAt = now
    },
  }
}
