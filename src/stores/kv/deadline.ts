import { StoreUnavailable } from './shared-store.ts'

const TICKS = 6
/** A timer that comes later than this says that nobody here was fast, the store neither. */
const LATE_MS = 10
/** How much longer than the deadline a busy process waits at most. */
const MOST_BUSY_MS = 1500

/** When a store was last heard to answer anything at all. */
export interface Heartbeat {
  /** By `performance.now()`. */
  heardAt: number
}

export interface Deadline {
  readonly limitMs: number
  /** How long a store is waited for that goes on answering others. */
  readonly utmostMs: number
  /** One that has answered nobody for so long does not go on. */
  readonly silenceMs: number
}

/** The answer, if it comes within the limit; or within the utmost, from a store that goes on answering others. A later
 *  one is dropped, a later failure too. While this process gets nothing done, as at the beginning of a burst, or because
 *  its machine has too much to do, answers may be there, unread, and a store that is well must not be taken for one that
 *  is away: that time does not count, within bounds. */
export function within<Answer>(
  { limitMs, utmostMs, silenceMs }: Deadline,
  answer: Promise<Answer>,
  heartbeat: Heartbeat = { heardAt: Number.NEGATIVE_INFINITY },
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
      const { heardAt } = heartbeat
      const patient = waited < utmostMs && heardAt > startedAt && now - heardAt < silenceMs
      if ((left <= 0 && !patient) || waited >= utmostMs + MOST_BUSY_MS) reject(new StoreUnavailable('timeout'))
      else timer = setTimeout(tick, tickMs)
    }
    let timer = setTimeout(tick, tickMs)
    answer.then(
      (value) => {
        clearTimeout(timer)
        heartbeat.heardAt = performance.now()
        resolve(value)
      },
      (error) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}

/** A deadline that nothing prolongs. */
export const strictly = (limitMs: number): Deadline => ({ limitMs, utmostMs: limitMs, silenceMs: 0 })
