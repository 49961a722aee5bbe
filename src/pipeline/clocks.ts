import { LONGEST_TIMER_MS } from '../lib/at-most.ts'
import { GatewayError } from '../lib/errors.ts'
import { untaken } from './client.ts'

export interface Clocks {
  /** The whole request has gone, where that takes its time: only now is an answer awaited. */
  asked(limits: Awaiting): void
  /** Bytes of the upstream arrived. */
  heard(): void
  /** The client is waited for until something is heard: meanwhile silence is not the upstream's. `letGo` is called where
   *  it has not taken its answer by the end of the call. */
  waiting(letGo: () => void): void
  /** The first content arrived: from now on silence is measured, not the wait for a beginning. */
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

const TOTAL = 'The call took longer than the configured timeout.'

/** The end of a call. Whom it waits for is to blame for it. */
function tooLong(letGo: (() => void) | undefined, expired: (failure: GatewayError) => void): void {
  if (!letGo) expired(new GatewayError('upstream_timeout', TOTAL))
  else {
    expired(untaken())
    letGo()
  }
}

/** The only clock of an upstream call whose answer comes in one: the total, in `performance.now()`. */
export function startTotalClock(deadline: number, expired: (failure: GatewayError) => void): Clocks {
  let timer: ReturnType<typeof setTimeout>
  let letGo: (() => void) | undefined
  const arm = () => {
    const due = deadline - performance.now()
    timer = setTimeout(check, Math.max(1, Math.min(Math.ceil(due), LONGEST_TIMER_MS)))
  }
  const check = () => {
    if (performance.now() < deadline) arm()
    else tooLong(letGo, expired)
  }
  arm()
  return {
    asked: nothing,
    heard() {
      letGo = undefined
    },
    waiting(whom) {
      letGo = whom
    },
    committed: nothing,
    finished: nothing,
    onSilence: nothing,
    stop: () => clearTimeout(timer),
  }
}

function nothing(): void {}

/** The three clocks of an upstream call, on one timer: total, first token, idle. `expired` is called once at most. */
export function startClocks(limits: {
  /** `performance.now()` of the call's end. */
  readonly deadline: number
  readonly firstTokenMs: number
  readonly idleMs: number
  readonly expired: (failure: GatewayError) => void
  /** How long a silence is that is shown. */
  readonly showMs: number
}): Clocks {
  const started = performance.now()
  let waitingForFirst = true
  let stopped = false
  let firstBy = started + limits.firstTokenMs
  let silenceMs = limits.idleMs
  let heardAt = started
  let shownAt = started
  let show: (() => void) | undefined
  let letGo: (() => void) | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  const silentUntil = () => (waitingForFirst ? firstBy : heardAt + silenceMs)
  const nextSign = () => Math.max(heardAt, shownAt) + limits.showMs

  function arm(): void {
    const due = Math.min(limits.deadline, silentUntil(), nextSign()) - performance.now()
    timer = Number.isFinite(due)
      ? setTimeout(check, Math.max(1, Math.min(Math.ceil(due), LONGEST_TIMER_MS)))
      : undefined
  }
  function check(): void {
    const now = performance.now()
    if (now >= limits.deadline) {
      tooLong(letGo, limits.expired)
      return
    }
    if (letGo) heardAt = now
    if (now >= silentUntil()) {
      limits.expired(new GatewayError('upstream_timeout', silence()))
      return
    }
    if (now >= nextSign()) {
      shownAt = now
      show?.()
    }
    arm()
  }
  function silence(): string {
    return waitingForFirst ? 'The provider did not begin to answer in time.' : 'The provider fell silent.'
  }
  arm()

  return {
    asked({ firstTokenMs, idleMs }) {
      if (stopped) return
      firstBy = performance.now() + firstTokenMs
      silenceMs = idleMs
      clearTimeout(timer)
      arm()
    },
    heard() {
      heardAt = performance.now()
      letGo = undefined
    },
    waiting(whom) {
      letGo = whom
    },
    committed() {
      waitingForFirst = false
      heardAt = performance.now()
      clearTimeout(timer)
      arm()
    },
    finished(graceMs) {
      silenceMs = Math.min(silenceMs, graceMs)
      waitingForFirst = false
      clearTimeout(timer)
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
