import type { Abort } from '../../lib/abort.ts'
import { atMost } from '../../lib/timers/at-most.ts'
import type { Call } from '../call.ts'
import { type ClientStream, departure, untaken } from '../client.ts'

/** The least time that a client gets to take the end of its answer, even past the call's deadline. */
export const LAST_WRITE_MS = 5000

/** Bounds a write after the upstream's clocks have stopped: aborts the answer if the client does not take it in time.
 *  Rejects when the client leaves. */
export function takenInTime(
  call: Call,
  client: ClientStream,
  writing: Promise<void> | undefined,
): Promise<void> | undefined {
  if (!writing) return undefined
  const limitMs = Math.max(LAST_WRITE_MS, call.deadline - performance.now())
  return atMost(limitMs, unlessLeft(writing, call.client.signal)).then((inTime) => {
    if (inTime) return
    client.abort()
    throw untaken()
  })
}

/** A write to a client that has left may never end. One that is there still gets the rest, even if the gateway ends the
 *  call. */
function unlessLeft(writing: Promise<void>, signal: Abort): Promise<void> {
  return new Promise((resolve, reject) => {
    const left = () => {
      const why = departure(signal)
      if (why.failure === 'client_closed') reject(why)
    }
    const over = () => signal.removeEventListener('abort', left)
    if (signal.aborted) left()
    else signal.addEventListener('abort', left, { once: true })
    writing.then(resolve, reject).finally(over)
  })
}
