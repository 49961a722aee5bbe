/** Timers with a longer delay fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A running timer, opaque to its users. */
export type Timer = object | number

/** Timers that are nearly always stopped before they fire. */
export interface Timers {
  /** Runs `work` once after about `ms`, at most the longest delay of the platform. */
  after(ms: number, work: () => void): Timer
  stop(timer: Timer): void
}

/** A platform timer for each, for runtimes where a timer belongs to the request that started it. */
export const separateTimers: Timers = {
  after: (ms, work) => setTimeout(work, Math.max(1, Math.min(Math.ceil(ms), LONGEST_TIMER_MS))),
  stop: (timer) => clearTimeout(timer as number),
}
