import { describeError } from '../../lib/log.ts'
import { PROBE_SECONDS } from '../../stores/kv/deployment-signals.ts'
import type { Lease } from '../../stores/kv/shared-store.ts'
import { LEAD_SECONDS } from '../cache/lookup.ts'
import type { Attempt, Call } from '../call.ts'
import type { PipelineServices } from '../services.ts'
import { LEASE_SECONDS } from './decide.ts'

export const RENEW_MS = (LEASE_SECONDS * 1000) / 3
const RENEW_LEAD_MS = (LEAD_SECONDS * 1000) / 3
const RENEW_PROBE_MS = (PROBE_SECONDS * 1000) / 3

/** Renews the leases of a running call, so that a stream longer than its lease keeps its slots and holds. Returns a
 *  function that stops the renewal. */
export function startLeaseRenewal(services: PipelineServices, call: Call): () => void {
  return renewEvery(services, call.cache?.leads ? RENEW_LEAD_MS : RENEW_MS, () => ({
    callId: call.id,
    attemptIds: call.attempts.filter((attempt) => !isProbing(attempt)).map(asLeased),
    slots: call.slots,
    budgets: call.holds,
    leaseSeconds: LEASE_SECONDS,
    lead: call.cache?.leads ? { key: call.cache.use.lead, seconds: LEAD_SECONDS } : undefined,
  }))
}

/** Renews the short lease of a probe until its answer begins, from when on it has the lease of every attempt. Returns a
 *  function that stops the renewal. */
export function startProbeRenewal(services: PipelineServices, call: Call, probe: Attempt): () => void {
  const lease = { callId: call.id, attemptIds: [asLeased(probe)], slots: [], budgets: [] }
  const stop = renewEvery(services, RENEW_PROBE_MS, () => ({ ...lease, leaseSeconds: PROBE_SECONDS }))
  return () => {
    stop()
    if (!isProbing(probe) && probe.endedAt === undefined)
      void renew(services, { ...lease, leaseSeconds: LEASE_SECONDS })
  }
}

/** Whether an attempt is a probe of which nobody knows yet how it ends. */
const isProbing = ({ reserved, firstTokenAt, endedAt }: Attempt) =>
  reserved.probe && firstTokenAt === undefined && endedAt === undefined

const asLeased = ({ id, deployment }: Attempt) => ({ attemptId: id, deployment: deployment.id })

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
