import { StoreUnavailable } from './shared-store.ts'

const TICKS = 6
/** A timer that comes later than this says that nobody here was fast, the store neither. */
const LATE_MS = 10
/** How many times the deadline an answer is waited for at most. */
const PATIENCE = 5

/** The answer, if it comes within `timeoutMs`. A later one is dropped, a later failure too. While this process gets
 *  nothing done, as at the beginning of a burst, or because its machine has too much to do, answers may be there,
 *  unread, and a store that is well must not be taken for one that is away: that time does not count, within bounds. */
export function within<Answer>(timeoutMs: number, answer: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now()
    const tickMs = timeoutMs / TICKS
    let tickedAt = startedAt
    let left = TICKS
    const tick = () => {
      const now = performance.now()
      if (now - tickedAt < tickMs + LATE_MS) left -= 1
      tickedAt = now
      if (left <= 0 || now - startedAt >= PATIENCE * timeoutMs) reject(new StoreUnavailable('timeout'))
      else timer = setTimeout(tick, tickMs)
    }
    let timer = setTimeout(tick, tickMs)
    answer.then(
      (value) => {
        clearTimeout(timer)
        resolve(value)
      },
      (error) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
