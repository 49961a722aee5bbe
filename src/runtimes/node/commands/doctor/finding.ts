/** The result of one check. */
export interface Finding {
  readonly check: string
  /** warn: it runs, but not well or not for long; fail: it does not start, or not as it should. */
  readonly state: 'ok' | 'warn' | 'fail'
  /** The state in words and, unless it is ok, the remedy. */
  readonly says: string
}

export const ok = (check: string, says: string): Finding => ({ check, state: 'ok', says })
export const warn = (check: string, says: string): Finding => ({ check, state: 'warn', says })
export const fail = (check: string, says: string): Finding => ({ check, state: 'fail', says })

/** A clock that is further away than this makes keys expire and one-time codes fail at the wrong moment. */
const MOST_SKEW_MS = 2000

/** Compares the clock of a store with this machine's. `beforeMs`, `afterMs`: when it was asked, and had answered. */
export function skewOf(check: string, theirMs: number, beforeMs: number, afterMs: number): Finding {
  const away = theirMs < beforeMs ? theirMs - beforeMs : Math.max(0, theirMs - afterMs)
  if (Math.abs(away) <= MOST_SKEW_MS) return ok(check, 'the same time as here')
  return warn(check, `${Math.round(away / 1000)} s away from this machine's: set both by NTP`)
}
