import { separateTimers, type Timers } from '../../lib/timers/timers.ts'
import { StoreUnavailable } from './store-unavailable.ts'

const TICKS = 6
/** A tick that is later than this shows that the process is busy, so the tick does not count. */
const LATE_MS = 10
/** How much a busy process extends a deadline at most. */
const MOST_BUSY_MS = 1500

/** When a store last answered any call. */
export interface Heartbeat {
  /** By `performance.now()`. */
  answeredAt: number
}

export interface Deadline {
  readonly limitMs: number
  /** The limit while the store keeps answering other calls. */
  readonly utmostMs: number
  /** A store without any answer for this long has stopped answering. */
  readonly silenceMs: number
}

/** What a wait watches. */
export interface Means {
  readonly heartbeat: Heartbeat
  readonly timers: Timers
}

/** How a wait ends, `waitedMs` after it began. */
export interface Waiter<Answer> {
  answered(answer: Answer, waitedMs: number): void
  failed(error: unknown): void
}

/** Hands over the answer if it arrives within `limitMs`, or within `utmostMs` while the store answers other calls; a later
 *  answer is dropped. Time in which this process is too busy to read answers does not count, within bounds, so that a
 *  healthy store is not taken for one that is away. */
export function awaitWithin<Answer>(
  { limitMs, utmostMs, silenceMs }: Deadline,
  answer: Promise<Answer>,
  { heartbeat, timers }: Means,
  waiter: Waiter<Answer>,
): void {
  const startedAt = performance.now()
  const tickMs = limitMs / TICKS
  let tickedAt = startedAt
  let left = TICKS
  let over = false
  const tick = () => {
    const now = performance.now()
    const waited = now - startedAt
    if (now - tickedAt < tickMs + LATE_MS) left -= 1
    tickedAt = now
    const { answeredAt } = heartbeat
    const patient = waited < utmostMs && answeredAt > startedAt && now - answeredAt < silenceMs
    if ((left <= 0 && !patient) || waited >= utmostMs + MOST_BUSY_MS) {
      over = true
      waiter.failed(new StoreUnavailable('timeout'))
    } else timer = timers.after(tickMs, tick)
  }
  let timer = timers.after(tickMs, tick)
  answer.then(
    (value) => {
      timers.stop(timer)
      const now = performance.now()
      heartbeat.answeredAt = now
      if (!over) waiter.answered(value, now - startedAt)
    },
    (error) => {
      timers.stop(timer)
      if (!over) waiter.failed(error)
    },
  )
}

/** The same as a promise. */
export function within<Answer>(
  deadline: Deadline,
  answer: Promise<Answer>,
  heartbeat: Heartbeat = { answeredAt: Number.NEGATIVE_INFINITY },
  timers: Timers = separateTimers,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    awaitWithin(deadline, answer, { heartbeat, timers }, { answered: resolve, failed: reject })
  })
}

/** A deadline that other answers do not extend. */
export const strictly = (limitMs: number): Deadline => ({ limitMs, utmostMs: limitMs, silenceMs: 0 })
