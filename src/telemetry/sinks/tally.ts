import type { Log } from '../../lib/log.ts'
import type { SinkMoved } from '../events.ts'
import type { SinkState } from './sink.ts'

const LOG_EVERY_MS = 60_000

/** What became of the entries of one sink: kept for the administration, reported to the metrics, and logged once a
 *  minute where something was lost or failed. */
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

  /** Sums what is told, and writes the sum at most once a minute. */
  function summed(write: (sum: number, reason: string) => void): (entries: number, reason: string) => void {
    let last = Number.NEGATIVE_INFINITY
    let sum = 0
    return (entries, reason) => {
      sum += entries
      if (now() - last < LOG_EVERY_MS) return
      last = now()
      write(sum, reason)
      sum = 0
    }
  }
  const logFailed = summed((times, error) => log.warn('sink.failed', { sink: name, times, error }))
  const logDropped = summed((entries, reason) => log.error('sink.dropped', { sink: name, entries, reason }))

  return {
    delivered(entries) {
      counts.delivered += entries
      lastSuccessAt = time()
      report({ type: 'sink.delivered', sink: name, entries })
    },
    failed(entries, error) {
      counts.failures += 1
      lastErrorAt = time()
      lastError = error
      report({ type: 'sink.failed', sink: name, entries })
      logFailed(1, error)
    },
    dropped(entries, reason) {
      counts.dropped += entries
      report({ type: 'sink.dropped', sink: name, entries })
      logDropped(entries, reason)
    },
    state: (queued) => ({ name, queued, ...counts, lastSuccessAt, lastErrorAt, lastError }),
  }
}
