/** Timers with a longer delay fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A timer that runs; only who has started it looks into it. */
export type Timer = object | number

/** Timers for what nearly always ends before them. */
export interface Timers {
  /** Runs `work` once after about so long, or as long as a timer of the platform can be. */
  after(ms: number, work: () => void): Timer
  stop(timer: Timer): void
}

/** One of the platform's for each, for runtimes where a timer belongs to the request that started it. */
export const separateTimers: Timers = {
  after: (ms, work) => setTimeout(work, Math.max(1, Math.min(Math.ceil(ms), LONGEST_TIMER_MS))),
  stop: (timer) => clearTimeout(timer as number),
}
