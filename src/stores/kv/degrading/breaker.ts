import { elapsedMs } from '../../../lib/clock.ts'

/** Consecutive failures that open the breaker. */
const FAILURES_TO_OPEN = 3
/** The breaker also opens when most answers were late in this many of the last seconds. */
const SLOW_SECONDS_TO_OPEN = 3
const SECONDS_COUNTED = 4
/** Short enough to recover quickly from a brief fault. */
const FIRST_PROBE_MS = 500
/** A recovered store has to be used again within three seconds, which leaves time for two probes and a reconnection. */
const PROBE_EVERY_MS = 1000

/** How the store failed: `gone` is a broken connection, `refused` a refused command. After a timeout it is `silent` if it
 *  answered no call meanwhile, else `late`. */
export type FailureKind = 'gone' | 'refused' | 'silent' | 'late'

/** The circuit breaker of a store. It has no timer; the outcomes of calls open it, and probes close it. */
export interface Breaker {
  readonly open: boolean
  /** Counts the changes between open and closed. Outcomes of calls that began in an earlier period do not count. */
  readonly period: number
  /** Milliseconds since 1970 when it last opened. */
  readonly openedAt: number
  succeeded(period: number): void
  failed(period: number, kind: FailureKind): void
  /** Returns true to one caller at a time while open: that caller may probe the store. */
  takeProbe(): boolean
  /** Closes the breaker; the next failure opens it again. */
  close(): void
}

interface Second {
  at: number
  inTime: number
  tooLate: number
}

export function createBreaker(now: () => number): Breaker {
  let open = false
  let period = 0
  let openedAt = 0
  let failures = 0
  /** When it was probed last, or opened, and how long after that it is probed again. */
  let probedAt = 0
  let pauseMs = 0
  const seconds: Second[] = []

  /** The counts of the current second, which replace those of the oldest. */
  function currentSecond(): Second {
    const at = Math.floor(now() / 1000)
    let current = seconds[at % SECONDS_COUNTED]
    if (current?.at !== at) {
      current = { at, inTime: 0, tooLate: 0 }
      seconds[at % SECONDS_COUNTED] = current
    }
    return current
  }

  function isSlow(): boolean {
    const from = Math.floor(now() / 1000) - SECONDS_COUNTED
    const recent = seconds.filter(({ at }) => at > from)
    const slow = recent.filter(({ inTime, tooLate }) => tooLate > 0 && tooLate >= inTime)
    const late = recent.reduce((sum, { inTime, tooLate }) => sum + tooLate - inTime, 0)
    return slow.length >= SLOW_SECONDS_TO_OPEN && late >= 0
  }

  return {
    get open() {
      return open
    },
    get period() {
      return period
    },
    get openedAt() {
      return openedAt
    },
    succeeded(during) {
      if (during !== period || open) return
      failures = 0
      currentSecond().inTime += 1
    },
    failed(during, kind) {
      if (during !== period || open) return
      currentSecond().tooLate += 1
      if (kind !== 'late') failures += 1
      if (kind !== 'refused' && failures < FAILURES_TO_OPEN && !isSlow()) return
      open = true
      period += 1
      openedAt = now()
      probedAt = openedAt
      pauseMs = FIRST_PROBE_MS
      seconds.length = 0
    },
    takeProbe() {
      if (!open || elapsedMs(probedAt, now()) < pauseMs) return false
      probedAt = now()
      pauseMs = PROBE_EVERY_MS
      return true
    },
    close() {
      open = false
      period += 1
      failures = FAILURES_TO_OPEN - 1
    },
  }
}
