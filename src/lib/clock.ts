/** The source of time, which tests replace. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** Measured milliseconds, to the microsecond: what a clock says beyond that is noise, and long to print. */
export function measured(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}
