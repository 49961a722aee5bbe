import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { jsonLog } from '../../../src/lib/log.ts'
import { separateTimers } from '../../../src/lib/timers/timers.ts'
import { LEASE_SECONDS } from '../../../src/pipeline/admit/decide.ts'
import { startLeaseRenewal, startProbeRenewal } from '../../../src/pipeline/admit/lease-renewal.ts'
import type { Attempt, Call } from '../../../src/pipeline/call.ts'
import type { PipelineServices } from '../../../src/pipeline/services.ts'
import { inProcessStore } from '../../../src/stores/kv/in-process.ts'
import type { Admission } from '../../../src/stores/kv/shared-store.ts'

const SLOT = { scope: 'key_parallel_requests', subject: 'key:1', limit: 1 }
const BUDGET = { scope: 'key_budget', subject: 'key:1', limitNano: 10, holdNano: 10, period: '', seedNano: 0 }
const admission = (callId: string): Admission => ({
  callId,
  attemptId: `${callId}/1`,
  versions: [],
  quotas: [],
  tokens: 1,
  slots: [SLOT],
  budgets: [BUDGET],
  candidates: [],
  leaseSeconds: LEASE_SECONDS,
})

describe('what a long call holds', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  async function running(store = inProcessStore({ now: Date.now })) {
    expect((await store.admit(admission('long'))).kind).toBe('admitted')
    const call = { id: 'long', attempts: [], slots: [SLOT.subject], holds: [BUDGET] } as unknown as Call
    const services = { store, log: jsonLog('silent', () => {}), timers: separateTimers } as unknown as PipelineServices
    return { store, end: startLeaseRenewal(services, call) }
  }
  const other = async (store: ReturnType<typeof inProcessStore>) => (await store.admit(admission('other'))).kind

  it('stays its own for as long as it runs, and no longer than a lease after it was last seen', async () => {
    const { store, end } = await running()
    for (let lease = 0; lease < 10; lease++) {
      await vi.advanceTimersByTimeAsync(1000 * LEASE_SECONDS)
      expect(await other(store)).toBe('refused')
    }
    end()
    await vi.advanceTimersByTimeAsync(1000 * LEASE_SECONDS)
    expect(await other(store)).toBe('admitted')
  })

  it('is a short lease at the deployment that it probes, and one of every call as soon as that answers', async () => {
    const store = inProcessStore({ now: Date.now })
    const log = jsonLog('silent', () => {})
    const services = { store, log, timers: separateTimers } as unknown as PipelineServices
    const outcome = { attemptId: '', deployment: 'east', result: 'failed' as const, error: 'timeout', used: {} }
    const nothing = { slots: [], budgets: [], counters: {}, entries: [] }
    const cooldown = { allowedFails: 0, seconds: 1 }
    await store.settle({ callId: 'failed', outcomes: [{ ...outcome, cooldown }], ...nothing })
    await vi.advanceTimersByTimeAsync(1000)
    const candidates = [{ deployment: 'east', limits: {} }]
    const admitted = await store.admit({ ...admission('long'), candidates })
    const reserved = { attemptId: 'long/1', ...(admitted.kind === 'admitted' && admitted.reserved) }
    expect(reserved).toMatchObject({ probe: true })
    const probe = { id: 'long/1', deployment: { id: 'east' }, reserved } as unknown as Attempt
    const call = { id: 'long', attempts: [probe], slots: [SLOT.subject], holds: [BUDGET] } as unknown as Call
    const ends = [startLeaseRenewal(services, call), startProbeRenewal(services, call, probe)]
    const east = async () => (await store.signals(['east']))[0]
    await vi.advanceTimersByTimeAsync(3000 * LEASE_SECONDS)
    expect(await east()).toMatchObject({ probing: true })
    probe.firstTokenAt = 1
    ends.pop()?.()
    ends.pop()?.()
    await vi.advanceTimersByTimeAsync(1000 * LEASE_SECONDS - 1)
    expect(await east()).toMatchObject({ active: 1 })
    await vi.advanceTimersByTimeAsync(1)
    expect(await east()).toMatchObject({ active: 0 })
  })

  it('outlives a renewal that fails', async () => {
    const store = inProcessStore({ now: Date.now })
    let failures = 0
    const renew = async (lease: Parameters<typeof store.renew>[0]) => {
      if (failures++ === 1) throw new Error('not now')
      await store.renew(lease)
    }
    const { end } = await running({ ...store, renew })
    await vi.advanceTimersByTimeAsync(1000 * LEASE_SECONDS * 1.5)
    expect(failures).toBeGreaterThan(2)
    expect(await other(store)).toBe('refused')
    end()
  })
})
