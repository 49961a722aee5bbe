import { elapsedMs } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import type { SinkMoved } from '../../events.ts'
import type { SinkState } from '../sink.ts'

const LOG_EVERY_MS = 60_000
/** How often drops are reported to the metrics: one may come with every call. */
const REPORT_EVERY_MS = 1000

/** Counts what happened to the entries of one sink: for the administration, for the metrics, and for a log line each
 *  minute in which something failed or was lost. */
export interface Tally {
  delivered(entries: number): void
  failed(entries: number, error: string): void
  dropped(entries: number, reason: string): void
  state(queued: number): SinkState
}

export function tally(
  name: string,
  {
    log,
    report,
    now = Date.now,
  }: { readonly log: Log; readonly report: (event: SinkMoved) => void; readonly now?: (() => number) | undefined },
): Tally {
  const counts = { delivered: 0, failures: 0, dropped: 0 }
  let lastSuccessAt: string | undefined
  let lastErrorAt: string | undefined
  let lastError: string | undefined
  const time = () => new Date(now()).toISOString()

  /** Sums losses, and logs the sum at a limited rate. */
  function summed(everyMs: number, write: (sum: number, reason: string) => void) {
    let last = Number.NEGATIVE_INFINITY
    let sum = 0
    let lastReason = ''
    const flush = () => {
      if (sum === 0) return
      write(sum, lastReason)
      sum = 0
    }
    return {
      add(entries: number, reason: string): void {
        sum += entries
        lastReason = reason
        if (elapsedMs(last, now()) < everyMs) return
        last = now()
        flush()
      },
      flush,
    }
  }
  const logFailed = summed(LOG_EVERY_MS, (times, error) => log.warn('sink.failed', { sink: name, times, error }))
  const logDropped = summed(LOG_EVERY_MS, (entries, reason) =>
    log.error('sink.dropped', { sink: name, entries, reason }),
  )
  const reportDropped = summed(REPORT_EVERY_MS, (entries) => report({ type: 'sink.dropped', sink: name, entries }))

  return {
    delivered(entries) {
      counts.delivered += entries
      lastSuccessAt = time()
      report({ type: 'sink.delivered', sink: name, entries })
      reportDropped.flush()
    },
    failed(entries, error) {
      counts.failures += 1
      lastErrorAt = time()
      lastError = error
      report({ type: 'sink.failed', sink: name, entries })
      reportDropped.flush()
      logFailed.add(1, error)
    },
    dropped(entries, reason) {
      counts.dropped += entries
      reportDropped.add(entries, reason)
      logDropped.add(entries, reason)
    },
    state(queued) {
      reportDropped.flush()
      return { name, queued, ...counts, lastSuccessAt, lastErrorAt, lastError }
    },
  }
}
