/** The source of time, which tests replace. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** Rounds measured milliseconds to microseconds: further digits are noise, and cost bytes. */
export function measured(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}
