import { type Abort, newAbort } from '../../../lib/abort.ts'
import { describeError } from '../../../lib/log.ts'
import { type Delivered, type Sink, type SinkEntry, SinkFailure } from '../sink.ts'

/** How long a far end may take to answer, unless its sink says otherwise. */
const ANSWER_MS = 10_000
/** The longest pause that a far end may ask for. */
const LONGEST_WISH_SECONDS = 600

/** Sends entries once. Rejects with a SinkFailure, whatever happens, and in time even if the sink ignores its abort. */
export function attemptDelivery(
  sink: Sink,
  entries: readonly SinkEntry[],
  limitMs = sink.answerMs ?? ANSWER_MS,
): Promise<Delivered> {
  return inTime(limitMs, (abort) => sink.deliver(entries, abort))
}

/** What a far end answers. Rejects with a SinkFailure, whatever happens, and in time even if the work ignores its abort.
 *  `outer` aborts it as well. */
export async function inTime<Answer>(
  limitMs: number,
  work: (abort: Abort) => Promise<Answer>,
  outer?: Abort,
): Promise<Answer> {
  const abort = newAbort<unknown>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const stop = () => abort.abort(outer?.reason)
  if (outer?.aborted) stop()
  else outer?.addEventListener('abort', stop, { once: true })
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const failure = new SinkFailure('away', `there was no answer within ${limitMs / 1000} seconds`)
      abort.abort(failure)
      reject(failure)
    }, limitMs)
  })
  try {
    return await Promise.race([work(abort), late])
  } catch (error) {
    throw error instanceof SinkFailure ? error : new SinkFailure('away', describeError(error))
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', stop)
  }
}

/** The pause that a far end asked for, in milliseconds, as far as it is honoured. */
export const wishedMs = (retryAfterSeconds = 0) => 1000 * Math.min(retryAfterSeconds, LONGEST_WISH_SECONDS)
