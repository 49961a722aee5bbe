import { LONGEST_TIMER_MS } from '../../lib/at-most.ts'
import { GatewayError } from '../../lib/errors.ts'
import { untaken } from '../client.ts'

export interface Clocks {
  /** The upstream has more of the request than before, or all of it: from now on it is its turn. */
  asked(limits?: Awaiting): void
  /** Bytes of the upstream arrived. */
  received(): void
  /** The client is waited for until something arrives: meanwhile nothing is the upstream's. At the end of the call
   *  the client is to blame: `late` says for what, and `atDeadline` is called. */
  waiting(atDeadline: () => void, late?: () => GatewayError): void
  /** The first content arrived: from now on silence is measured, not the wait for an answer. */
  committed(): void
  /** The answer is complete and only its formal end is awaited, not longer than `graceMs`. */
  finished(graceMs: number): void
  /** `show` is called each time that the upstream has been silent for a while. */
  onSilence(show: () => void): void
  stop(): void
}

interface Awaiting {
  readonly firstTokenMs: number
  readonly idleMs: number
}

export interface Ends {
  /** `performance.now()` of the call's end. */
  readonly deadline: number
  /** How long the call may take in all. */
  readonly callMs: number
  /** How long an attempt may take until its answer is there, or has begun to stream. */
  readonly answerMs: number
  /** Called once at most. */
  readonly expired: (failure: GatewayError) => void
}

function unanswered(): GatewayError {
  return new GatewayError('upstream_timeout', 'The provider did not answer in time.')
}

/** The end of a call is the fault of a deployment that has had half of it and has not answered; else of nobody. */
function callEnded(silentMs: number, { callMs }: Ends): GatewayError {
  return silentMs >= callMs / 2 ? unanswered() : new GatewayError('call_timeout', 'The call took too long in all.')
}

/** The only clock of an upstream call whose answer comes in one. */
export function startAnswerClock(ends: Ends): Clocks {
  const started = performance.now()
  const answerBy = started + ends.answerMs
  const until = Math.min(ends.deadline, answerBy)
  let timer: ReturnType<typeof setTimeout>
  const arm = () => {
    const due = until - performance.now()
    timer = setTimeout(check, Math.max(1, Math.min(Math.ceil(due), LONGEST_TIMER_MS)))
  }
  const check = () => {
    const now = performance.now()
    if (now < until) arm()
    else ends.expired(now >= answerBy ? unanswered() : callEnded(now - started, ends))
  }
  arm()
  return {
    asked: nothing,
    received: nothing,
    waiting: nothing,
    committed: nothing,
    finished: nothing,
    onSilence: nothing,
    stop: () => clearTimeout(timer),
  }
}

function nothing(): void {}

/** The clocks of an upstream call, on one timer: until the commit how long an answer is awaited, and a first token; after
 *  it silence; and the end of the call. */
export function startClocks(
  ends: Ends & {
    readonly firstTokenMs: number
    readonly idleMs: number
    /** How long a silence is that is shown. */
    readonly showMs: number
  },
): Clocks {
  const { deadline, answerMs, expired, showMs } = ends
  let { firstTokenMs, idleMs: silenceMs } = ends
  let waitingForFirst = true
  let stopped = false
  /** Since when it is the upstream's turn. */
  let turnSince = performance.now()
  let receivedAt = turnSince
  let shownAt = turnSince
  let show: (() => void) | undefined
  let waiting: { readonly atDeadline: () => void; readonly late: () => GatewayError } | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  const silentUntil = () => (waitingForFirst ? turnSince + Math.min(answerMs, firstTokenMs) : receivedAt + silenceMs)
  const nextSign = () => Math.max(receivedAt, shownAt) + showMs

  function arm(): void {
    clearTimeout(timer)
    const due = Math.min(deadline, silentUntil(), nextSign()) - performance.now()
    timer = Number.isFinite(due)
      ? setTimeout(check, Math.max(1, Math.min(Math.ceil(due), LONGEST_TIMER_MS)))
      : undefined
  }
  function check(): void {
    const now = performance.now()
    if (waiting) turnSince = receivedAt = now
    if (now >= deadline) end(now)
    else if (now >= silentUntil()) expired(silence())
    else {
      if (now >= nextSign()) {
        shownAt = now
        show?.()
      }
      arm()
    }
  }
  function end(now: number): void {
    if (waiting) {
      const { atDeadline, late } = waiting
      expired(late())
      atDeadline()
    } else expired(callEnded(waitingForFirst ? now - turnSince : 0, ends))
  }
  function silence(): GatewayError {
    if (!waitingForFirst) return new GatewayError('upstream_timeout', 'The provider fell silent.')
    return answerMs <= firstTokenMs
      ? unanswered()
      : new GatewayError('upstream_timeout', 'The provider did not begin to answer in time.')
  }
  arm()

  return {
    asked(limits) {
      if (stopped) return
      turnSince = performance.now()
      waiting = undefined
      if (!limits) return
      firstTokenMs = limits.firstTokenMs
      silenceMs = limits.idleMs
      arm()
    },
    received() {
      receivedAt = performance.now()
      if (waiting) turnSince = receivedAt
      waiting = undefined
    },
    waiting(atDeadline, late = untaken) {
      waiting = { atDeadline, late }
    },
    committed() {
      waitingForFirst = false
      receivedAt = performance.now()
      arm()
    },
    finished(graceMs) {
      silenceMs = Math.min(silenceMs, graceMs)
      waitingForFirst = false
      arm()
    },
    onSilence(shown) {
      show = shown
    },
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
