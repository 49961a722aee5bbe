import { StoreUnavailable } from './shared-store.ts'

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

/** Resolves with the answer if it arrives within `limitMs`, or within `utmostMs` while the store answers other calls; a later
 *  answer is dropped. Time in which this process is too busy to read answers does not count, within bounds, so that a
 *  healthy store is not taken for one that is away. */
export function within<Answer>(
  { limitMs, utmostMs, silenceMs }: Deadline,
  answer: Promise<Answer>,
  heartbeat: Heartbeat = { answeredAt: Number.NEGATIVE_INFINITY },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now()
    const tickMs = limitMs / TICKS
    let tickedAt = startedAt
    let left = TICKS
    const tick = () => {
      const now = performance.now()
      const waited = now - startedAt
      if (now - tickedAt < tickMs + LATE_MS) left -= 1
      tickedAt = now
      const { answeredAt } = heartbeat
      const patient = waited < utmostMs && answeredAt > startedAt && now - answeredAt < silenceMs
      if ((left <= 0 && !patient) || waited >= utmostMs + MOST_BUSY_MS) reject(new StoreUnavailable('timeout'))
      else timer = setTimeout(tick, tickMs)
    }
    let timer = setTimeout(tick, tickMs)
    answer.then(
      (value) => {
        clearTimeout(timer)
        heartbeat.answeredAt = performance.now()
        resolve(value)
      },
      (error) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}

/** A deadline that other answers do not extend. */
export const strictly = (limitMs: number): Deadline => ({ limitMs, utmostMs: limitMs, silenceMs: 0 })
