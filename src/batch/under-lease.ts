import { describeError, type Log } from '../lib/log.ts'
import type { BatchLease, BatchLeases } from '../stores/sql/batches/batch-leases.ts'
import { LEASE_SECONDS } from '../stores/sql/batches/batch-leases.ts'

const RENEW_MS = (1000 * LEASE_SECONDS) / 3

/** Does the work of a lease, which is renewed meanwhile and given back if the work fails or is stopped. The signal of
 *  the work aborts with the outer one, and once the lease is lost. Resolves with false if the work did not end. */
export async function underLease(
  lease: BatchLease,
  work: (signal: AbortSignal) => Promise<unknown>,
  {
    leases,
    log,
    signal,
    failed,
  }: {
    readonly leases: BatchLeases
    readonly log: Log
    readonly signal: AbortSignal
    /** The name of the log line of a failure. */
    readonly failed: string
  },
): Promise<boolean> {
  const ending = new AbortController()
  const stop = () => ending.abort()
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  let isRenewing = false
  const renewal = setInterval(async () => {
    if (isRenewing) return
    isRenewing = true
    try {
      if (!(await leases.renew(lease))) ending.abort()
    } catch (error) {
      // The lease outlives two failed renewals. Writes under an ended lease are refused.
      log.warn('batch.lease_not_renewed', { batchId: lease.batchId, error: describeError(error) })
    } finally {
      isRenewing = false
    }
  }, RENEW_MS)
  try {
    await work(ending.signal)
    return true
  } catch (error) {
    if (!ending.signal.aborted) log.warn(failed, { batchId: lease.batchId, error: describeError(error) })
    // If this fails too, the lease ends by itself.
    await leases.giveBack(lease, signal.aborted ? 'stop' : 'failure').catch(() => {})
    return false
  } finally {
    clearInterval(renewal)
    signal.removeEventListener('abort', stop)
  }
}
