import { describeError } from '../../lib/log.ts'
import { LEAD_SECONDS } from '../cache/lookup.ts'
import type { Call } from '../call.ts'
import type { PipelineServices } from '../services.ts'
import { LEASE_SECONDS } from './decide.ts'

const RENEW_MS = (LEASE_SECONDS * 1000) / 3
const RENEW_LEAD_MS = (LEAD_SECONDS * 1000) / 3

/** Renews the leases of a running call, so that a stream longer than its lease keeps its slots and holds. Returns a
 *  function that stops the renewal. */
export function startLeaseRenewal(services: PipelineServices, call: Call): () => void {
  const { timers } = services
  const everyMs = call.cache?.leads ? RENEW_LEAD_MS : RENEW_MS
  const renewAndGoOn = () => {
    timer = timers.after(everyMs, renewAndGoOn)
    void renew(services, call)
  }
  let timer = timers.after(everyMs, renewAndGoOn)
  return () => timers.stop(timer)
}

async function renew(services: PipelineServices, call: Call): Promise<void> {
  try {
    await services.store.renew({
      callId: call.id,
      attemptIds: call.attempts.map(({ id, deployment }) => ({ attemptId: id, deployment: deployment.id })),
      slots: call.slots,
      budgets: call.holds,
      leaseSeconds: LEASE_SECONDS,
      lead: call.cache?.leads ? { key: call.cache.use.lead, seconds: LEAD_SECONDS } : undefined,
    })
  } catch (error) {
    services.log.warn('renew.failed', { callId: call.id, error: describeError(error) })
  }
}
