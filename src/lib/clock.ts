/** The source of time, which tests replace. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** The milliseconds since a moment of the same clock: infinite for a moment in the future, which means that the clock
 *  was set back since. */
export function elapsedMs(since: number, now: number): number {
  return since > now ? Number.POSITIVE_INFINITY : now - since
}

/** Rounds measured milliseconds to microseconds: further digits are noise, and cost bytes. */
export function measured(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}
