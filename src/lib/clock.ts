/** The source of time, which tests replace. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** The milliseconds since a moment of the same clock: infinite for one that is yet to come, because the clock was set back
 *  since, and nobody waits for it to be there again. */
export function elapsedMs(since: number, now: number): number {
  return since > now ? Number.POSITIVE_INFINITY : now - since
}

/** Rounds measured milliseconds to microseconds: further digits are noise, and cost bytes. */
export function measured(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}
