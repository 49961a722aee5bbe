import { StoreUnavailable } from './shared-store.ts'

const TICKS = 6

/** The answer, if it comes within `timeoutMs`. A later one is dropped, a later failure too. Ticks, not time: while this
 *  process is busy, as at the beginning of a burst, the answers may be there, unread, and a store that is well must not
 *  be taken for one that is away. */
export async function within<Answer>(timeoutMs: number, answer: Promise<Answer>): Promise<Answer> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_resolve, reject) => {
    let ticks = 0
    const tick = () => {
      ticks += 1
      if (ticks > TICKS) reject(new StoreUnavailable('timeout'))
      else timer = setTimeout(tick, timeoutMs / TICKS)
    }
    tick()
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
