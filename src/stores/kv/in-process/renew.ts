import type { Lease } from '../shared-store.ts'
import { milliseconds } from '../windows.ts'
import { renewLead } from './leads.ts'
import { leasesExpireAt, type State } from './state.ts'

/** Prolongs what a running call holds. `scripts/renew.ts` implements it in Lua. */
export function renew(state: State, lease: Lease, now: number): void {
  const end = now + milliseconds(lease.leaseSeconds)
  for (const subject of lease.slots) {
    const entry = state.slots.entry(subject)
    if (!entry) continue
    entry.value.renew(lease.callId, now, end)
    entry.expiresAt = leasesExpireAt(now, end)
  }
  for (const { subject, holdNano } of lease.budgets) {
    state.budgets.get(subject)?.holds.renew(lease.callId, now, end, holdNano)
  }
  for (const { attemptId, deployment } of lease.attemptIds) {
    state.deployments.get(deployment)?.active.renew(attemptId, now, end)
  }
  if (lease.lead) renewLead(state, lease.lead, lease.callId, now)
}
