import type { Aborter } from '../../lib/abort.ts'
import { GatewayError } from '../../lib/errors.ts'
import type { Timer, Timers } from '../../lib/timers/timers.ts'
import { untaken } from '../client.ts'
import { callTimeout } from '../failures.ts'

export interface Clocks {
  /** More of the request, or all of it, was sent: the upstream's time runs from now. */
  asked(limits?: Awaiting): void
  /** Bytes arrived from the upstream. */
  received(): void
  /** The gateway waits for the client until bytes arrive: meanwhile no time counts against the upstream. If the call's
   *  deadline passes, the client is to blame: the failure is `late()`, and `atDeadline` is called. */
  waiting(atDeadline: () => void, late?: () => GatewayError): void
  /** The first content arrived: from now on only silence is limited. Throws if that was too late: bytes that arrive with
   *  the end of their time may be read after it. */
  committed(): void
  /** The answer is complete; its formal end is awaited for at most `graceMs`. */
  finished(graceMs: number): void
  /** Calls `show` whenever the upstream has been silent for the keep-alive interval. */
  onSilence(show: () => void): void
  stop(): void
}

interface Awaiting {
  readonly firstTokenMs: number
  readonly idleMs: number
}

export interface Ends {
  readonly timers: Timers
  /** The call's deadline, by `performance.now()`. */
  readonly deadline: number
  /** The time limit of the whole call. */
  readonly callMs: number
  /** The time limit of one attempt, until its answer is complete or has begun to stream. */
  readonly answerMs: number
  /** What a clock that has run out aborts. */
  readonly ended: Aborter<GatewayError>
}

function unanswered(): GatewayError {
  return new GatewayError('upstream_timeout', 'The provider did not answer in time.')
}

/** At the call's deadline a deployment is blamed only if it was silent for at least half of the call's time. */
function callEnded(silentMs: number, { callMs }: Ends): GatewayError {
  return silentMs >= callMs / 2 ? unanswered() : callTimeout()
}

/** The single clock of an attempt that is not streamed. */
export function startAnswerClock(ends: Ends): Clocks {
  const { timers, deadline, answerMs } = ends
  const started = performance.now()
  const answerBy = started + answerMs
  const until = Math.min(deadline, answerBy)
  const check = () => {
    const now = performance.now()
    // The platform's timers are a little early at times.
    if (now < until) timer = timers.after(until - now, check)
    else ends.ended.abort(now >= answerBy ? unanswered() : callEnded(now - started, ends))
  }
  let timer = timers.after(until - started, check)
  return {
    asked: nothing,
    received: nothing,
    waiting: nothing,
    committed: nothing,
    finished: nothing,
    onSilence: nothing,
    stop: () => timers.stop(timer),
  }
}

function nothing(): void {}

/** The clocks of a streamed attempt, on one timer: the wait for the answer and its first token until the commit,
 *  silence after it, and the call's deadline. */
export function startClocks(
  ends: Ends & {
    readonly firstTokenMs: number
    readonly idleMs: number
    /** The silence after which a keep-alive is shown. */
    readonly showMs: number
  },
): Clocks {
  const { timers, deadline, answerMs, ended, showMs } = ends
  let { firstTokenMs, idleMs: silenceMs } = ends
  let waitingForFirst = true
  let stopped = false
  /** When the upstream's time began to run. */
  let turnSince = performance.now()
  let receivedAt = turnSince
  let shownAt = turnSince
  let show: (() => void) | undefined
  let waiting: { readonly atDeadline: () => void; readonly late: () => GatewayError } | undefined
  let timer: Timer | undefined

  const silentUntil = () => (waitingForFirst ? turnSince + Math.min(answerMs, firstTokenMs) : receivedAt + silenceMs)
  const nextSign = () => Math.max(receivedAt, shownAt) + showMs

  function arm(): void {
    if (timer !== undefined) timers.stop(timer)
    const due = Math.min(deadline, silentUntil(), nextSign()) - performance.now()
    timer = Number.isFinite(due) ? timers.after(due, check) : undefined
  }
  function check(): void {
    const now = performance.now()
    if (waiting) turnSince = receivedAt = now
    if (now >= deadline) end(now)
    else if (now >= silentUntil()) ended.abort(silence())
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
      ended.abort(late())
      atDeadline()
    } else ended.abort(callEnded(waitingForFirst ? now - turnSince : 0, ends))
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
      if (ended.reason?.failure === 'upstream_timeout') throw ended.reason
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
      if (timer !== undefined) timers.stop(timer)
    },
  }
}
