/** One slow answer is an accident, three in a row are a state. Each of them costs a call its deadline. */
const FAILURES_TO_OPEN = 3
/** Two probes and a reconnection fit into the three seconds in which a store that is back must be used again. */
const PROBE_EVERY_MS = 1000

/** Whether the store is worth asking. Has no timer: what happens to calls moves it. */
export interface Breaker {
  readonly open: boolean
  /** Names the present stretch of being open or closed; what a call learned in an earlier one does not count. */
  readonly stretch: number
  /** Milliseconds since 1970 when it last opened. */
  readonly openedAt: number
  succeeded(stretch: number): void
  failed(stretch: number, atOnce: boolean): void
  /** True for one caller each second while open: that one may look whether the store is back. */
  takeProbe(): boolean
  /** Closes on probation: the first failure opens it again. */
  close(): void
}

export function createBreaker(now: () => number): Breaker {
  let open = false
  let stretch = 0
  let openedAt = 0
  let failures = 0
  let lastProbeAt = 0
  return {
    get open() {
      return open
    },
    get stretch() {
      return stretch
    },
    get openedAt() {
      return openedAt
    },
    succeeded(during) {
      if (during === stretch && !open) failures = 0
    },
    failed(during, atOnce) {
      if (during !== stretch || open) return
      failures += 1
      if (!atOnce && failures < FAILURES_TO_OPEN) return
      open = true
      stretch += 1
      openedAt = now()
      lastProbeAt = openedAt
    },
    takeProbe() {
      if (!open || now() - lastProbeAt < PROBE_EVERY_MS) return false
      lastProbeAt = now()
      return true
    },
    close() {
      open = false
      stretch += 1
      failures = FAILURES_TO_OPEN - 1
    },
  }
}
