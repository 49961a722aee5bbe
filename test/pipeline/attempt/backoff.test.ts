import { describe, expect, it } from 'vitest'
import { backoffMs, sleep } from '../../../src/pipeline/attempt/backoff.ts'
import { noneAvailable } from '../../../src/pipeline/attempt/early-probe.ts'
import type { Plan } from '../../../src/pipeline/plan/plan.ts'
import type { PipelineServices } from '../../../src/pipeline/services.ts'

describe('the pause before a retry', () => {
  it('doubles, up to half a minute', () => {
    const longest = [1, 2, 3, 4, 5, 6, 7, 8].map((failures) => backoffMs(0.5, failures, () => 1))
    expect(longest).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
  })

  it('is anything from nothing to the whole, so that clients do not come back together', () => {
    expect([0, 0.25, 1].map((random) => backoffMs(1, 3, () => random))).toEqual([0, 1000, 4000])
  })

  it('ends at once when the client leaves, also one that has left before', async () => {
    const leaving = new AbortController()
    const paused = sleep(3_600_000, leaving.signal)
    leaving.abort()
    await expect(paused).rejects.toMatchObject({ failure: 'client_closed' })
    await expect(sleep(0, leaving.signal)).rejects.toMatchObject({ failure: 'client_closed' })
  })
})

describe('the time to come back after a call that no deployment took', () => {
  const now = 1_800_000_000_000
  const STATES: Readonly<Record<string, object>> = {
    full: { used: { requests: 1 }, failures: 0, cooledUntil: 0 },
    cooled: { used: {}, failures: 1, cooledUntil: now + 8000, lastErrorAt: now },
    probed: { used: {}, failures: 1, cooledUntil: now - 1, probing: true },
    recovered: { used: {}, failures: 0, cooledUntil: 0 },
  }
  const services = {
    clock: { now: () => now },
    signals: { of: (id: string) => STATES[id] },
    config: { router_settings: { enable_pre_call_checks: true } },
  } as unknown as PipelineServices

  it.each([
    [['full'], 'no_capacity', 60],
    [['full', 'cooled'], 'no_capacity', 8],
    [['cooled'], 'no_healthy_deployment', 8],
    [['cooled', 'probed'], 'no_healthy_deployment', 1],
    [['cooled', 'recovered'], 'no_healthy_deployment', 1],
  ])('%s: %s, %i', (ids, code, seconds) => {
    const order = () => ids.map((id) => ({ id, limits: { requests: 1 } }))
    const plan = { group: { name: 'group' }, order, others: () => [] } as unknown as Plan
    const { failure, details } = noneAvailable(services, [plan])
    expect([failure, details.retryAfterSeconds]).toEqual([code, seconds])
  })
})
