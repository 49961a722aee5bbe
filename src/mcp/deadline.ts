import { type Abort, newAbort } from '../lib/abort.ts'
import type { Timers } from '../lib/timers/timers.ts'

/** Runs work under a signal that aborts with the caller's, or with the reason `late` when the time is over. */
export async function within<Result>(
  {
    ms,
    late,
    signal,
    timers,
  }: { readonly ms: number; readonly late: () => Error; readonly signal?: Abort; readonly timers: Timers },
  work: (signal: Abort) => Promise<Result>,
): Promise<Result> {
  if (signal?.aborted) throw signal.reason
  const own = newAbort<unknown>()
  const forward = () => own.abort(signal?.reason)
  const timer = timers.after(ms, () => own.abort(late()))
  signal?.addEventListener('abort', forward, { once: true })
  try {
    return await work(own)
  } finally {
    timers.stop(timer)
    signal?.removeEventListener('abort', forward)
  }
}
