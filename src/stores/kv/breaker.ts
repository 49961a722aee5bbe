/** One failure is an accident, three in a row are a state. */
const FAILURES_TO_OPEN = 3
/** Slowness is a state when most answers of so many of the last seconds came too late. */
const SLOW_SECONDS_TO_OPEN = 3
const SECONDS_LOOKED_AT = 4
/** What was an accident is over by then. */
const FIRST_PROBE_MS = 500
/** Two probes and a reconnection fit into the three seconds in which a store that is back must be used again. */
const PROBE_EVERY_MS = 1000

/** How the store has failed: it is `gone`, or `refused` to do what it must; it said nothing to anybody (`silent`), or
 *  answered others and this one too late (`late`). */
export type Failing = 'gone' | 'refused' | 'silent' | 'late'

/** Whether the store is worth asking. Has no timer: what happens to calls moves it. */
export interface Breaker {
  readonly open: boolean
  /** Names the present stretch of being open or closed; what a call learned in an earlier one does not count. */
  readonly stretch: number
  /** Milliseconds since 1970 when it last opened. */
  readonly openedAt: number
  succeeded(stretch: number): void
  failed(stretch: number, how: Failing): void
  /** True for one caller at a time while open: that one may look whether the store is back. */
  takeProbe(): boolean
  /** Closes on probation: the first failure opens it again. */
  close(): void
}

interface Second {
  at: number
  inTime: number
  tooLate: number
}

export function createBreaker(now: () => number): Breaker {
  let open = false
  let stretch = 0
  let openedAt = 0
  let failures = 0
  let nextProbeAt = 0
  const seconds: Second[] = []

  /** The present second, in the place of one that is long over. */
  function second(): Second {
    const at = Math.floor(now() / 1000)
    let present = seconds[at % SECONDS_LOOKED_AT]
    if (present?.at !== at) {
      present = { at, inTime: 0, tooLate: 0 }
      seconds[at % SECONDS_LOOKED_AT] = present
    }
    return present
  }

  function isSlow(): boolean {
    const from = Math.floor(now() / 1000) - SECONDS_LOOKED_AT
    const looked = seconds.filter(({ at }) => at > from)
    const slow = looked.filter(({ inTime, tooLate }) => tooLate > 0 && tooLate >= inTime)
    const late = looked.reduce((sum, { inTime, tooLate }) => sum + tooLate - inTime, 0)
    return slow.length >= SLOW_SECONDS_TO_OPEN && late >= 0
  }

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
      if (during !== stretch || open) return
      failures = 0
      second().inTime += 1
    },
    failed(during, how) {
      if (during !== stretch || open) return
      second().tooLate += 1
      if (how !== 'late') failures += 1
      if (how !== 'refused' && failures < FAILURES_TO_OPEN && !isSlow()) return
      open = true
      stretch += 1
      openedAt = now()
      nextProbeAt = openedAt + FIRST_PROBE_MS
      seconds.length = 0
    },
    takeProbe() {
      if (!open || now() < nextProbeAt) return false
      nextProbeAt = now() + PROBE_EVERY_MS
      return true
    },
    close() {
      open = false
      stretch += 1
      failures = FAILURES_TO_OPEN - 1
    },
  }
}
