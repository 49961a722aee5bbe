import { elapsedMs } from '../../lib/clock.ts'

/** How long one request sends the entries of others; the runtime grants a request 30 s in all. */
const TURN_MS = 5000

/** Lets one request of an isolate send what all of them leave. Since a request may be killed without a word, the next one
 *  takes the turn after a time. */
export interface Turns {
  /** Whether whoever has something to send has to take the turn. */
  areFree(): boolean
  /** Takes the turn, also from a request that has it; returns its number. */
  take(): number
  /** Whether nobody has taken the turn since. */
  has(turn: number): boolean
  /** Gives the turn back, if nobody has taken it since. */
  end(turn: number): void
}

export function turns(now: () => number): Turns {
  let last = 0
  let takenAt = Number.NEGATIVE_INFINITY
  return {
    areFree: () => elapsedMs(takenAt, now()) >= TURN_MS,
    take() {
      last += 1
      takenAt = now()
      return last
    },
    has: (turn) => turn === last,
    end(turn) {
      if (turn === last) takenAt = Number.NEGATIVE_INFINITY
    },
  }
}
