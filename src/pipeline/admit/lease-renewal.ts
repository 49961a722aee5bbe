import { describeError } from '../../lib/log.ts'
import type { Lease } from '../../stores/kv/shared-store.ts'
import { LEAD_SECONDS } from '../cache/lookup.ts'
import type { Call } from '../call.ts'
import type { PipelineServices } from '../services.ts'
import { LEASE_SECONDS } from './decide.ts'

export const RENEW_MS = (LEASE_SECONDS * 1000) / 3
const RENEW_LEAD_MS = (LEAD_SECONDS * 1000) / 3

/** Renews the leases of a running call, so that a stream longer than its lease keeps its slots and holds. Returns a
 *  function that stops the renewal. */
export function startLeaseRenewal(services: PipelineServices, call: Call): () => void {
  return renewEvery(services, call.cache?.leads ? RENEW_LEAD_MS : RENEW_MS, () => ({
    callId: call.id,
    attemptIds: call.attempts.map(({ id, deployment }) => ({ attemptId: id, deployment: deployment.id })),
    slots: call.slots,
    budgets: call.holds,
    leaseSeconds: LEASE_SECONDS,
    lead: call.cache?.leads ? { key: call.cache.use.lead, seconds: LEAD_SECONDS } : undefined,
  }))
}

/** Renews a lease, as it is by then, again and again. Returns a function that stops it. */
export function renewEvery(services: PipelineServices, everyMs: number, lease: () => Lease): () => void {
  const { timers } = services
  const renewAndGoOn = () => {
    timer = timers.after(everyMs, renewAndGoOn)
    void renew(services, lease())
  }
  let timer = timers.after(everyMs, renewAndGoOn)
  return () => timers.stop(timer)
}

async function renew({ store, log }: PipelineServices, lease: Lease): Promise<void> {
  try {
    await store.renew(lease)
  } catch (error) {
    log.warn('renew.failed', { callId: lease.callId, error: describeError(error) })
  }
}
