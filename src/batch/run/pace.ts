/** How many items of one batch run here at once. It halves when a provider has too much to do, and grows back by one when
 *  as many items as it allows have succeeded. */
export interface Pace {
  readonly allowed: number
  /** `startedAt` is when the try began: tries that ran side by side halve it once. */
  throttled(startedAt: number, now: number): void
  succeeded(): void
}

export function pace(most: number): Pace {
  let allowed = most
  let successes = 0
  let halvedAt = Number.NEGATIVE_INFINITY
  return {
    get allowed() {
      return allowed
    },
    throttled(startedAt, now) {
      successes = 0
      if (startedAt < halvedAt) return
      halvedAt = now
      allowed = Math.max(1, Math.floor(allowed / 2))
    },
    succeeded() {
      if (allowed >= most) return
      successes += 1
      if (successes < allowed) return
      successes = 0
      allowed += 1
    },
  }
}
