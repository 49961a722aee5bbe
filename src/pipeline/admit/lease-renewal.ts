import { describeError } from '../../lib/log.ts'
import type { Call } from '../call.ts'
import type { PipelineServices } from '../services.ts'
import { LEASE_SECONDS } from './decide.ts'

const RENEW_MS = (LEASE_SECONDS * 1000) / 3

/** Renews the leases of a running call, so that a stream longer than its lease keeps its slots and holds. Returns a
 *  function that stops the renewal. */
export function startLeaseRenewal(services: PipelineServices, call: Call): () => void {
  const { timers } = services
  const renewAndGoOn = () => {
    timer = timers.after(RENEW_MS, renewAndGoOn)
    void renew(services, call)
  }
  let timer = timers.after(RENEW_MS, renewAndGoOn)
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
    })
  } catch (error) {
    services.log.warn('renew.failed', { callId: call.id, error: describeError(error) })
  }
}
