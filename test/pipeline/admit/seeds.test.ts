import { describe, expect, it } from 'vitest'
import type { Account } from '../../../src/limits/accounts.ts'
import { budgetsOf } from '../../../src/pipeline/admit/budget-holds.ts'
import { type Asking, decide } from '../../../src/pipeline/admit/decide.ts'
import { storeClock } from '../../../src/pipeline/admit/store-clock.ts'
import type { PipelineServices } from '../../../src/pipeline/services.ts'
import { inProcessStore } from '../../../src/stores/kv/in-process.ts'
import { ASKS_NOTHING } from '../../../src/stores/kv/nothing.ts'
import type { Admission } from '../../../src/stores/kv/shared-store.ts'

const PERIOD_MS = 1000
const account: Account = {
  scope: 'key_budget',
  subject: 'key:1@1s',
  model: undefined,
  since: '2026-01-01T00:00:00.000Z',
  limitNano: 10,
  softNano: undefined,
  periodAt: (now) => new Date(now - (now % PERIOD_MS)).toISOString(),
  resetsAt: (now) => now - (now % PERIOD_MS) + PERIOD_MS,
}
const caller = { accounts: [account], versions: [], remembered: [], readAt: 0 } as unknown as Asking['caller']

describe('what the database says of a budget', () => {
  it('counts for the period that it was read of, though the next one began meanwhile', async () => {
    let now = 10 * PERIOD_MS - 1
    const read: string[] = []
    const services = {
      clock: { now: () => now },
      storeClock: storeClock({ now: () => now }),
      store: inProcessStore({ now: () => now }),
      budgets: {
        async spent(of: readonly { period: string }[]) {
          read.push(...of.map(({ period }) => period))
          const spent = of.map(({ period }) => (period === account.periodAt(10 * PERIOD_MS - 1) ? 10 : 0))
          now = 10 * PERIOD_MS
          return spent
        },
      },
    } as unknown as PipelineServices
    const { admitted } = await decide(services, { caller, address: '' }, ({ accounts }, seeds) => ({
      callId: 'call',
      attemptId: 'attempt',
      versions: [],
      quotas: [],
      tokens: 1,
      slots: [],
      budgets: budgetsOf(accounts, () => ({ holdNano: 1, likelyNano: 1 }), now, seeds),
      candidates: [],
      leaseSeconds: 1,
    }))
    expect(admitted.spentNano).toEqual([0])
    expect(read).toHaveLength(2)
  })

  it('cannot be read for a call that a late store has admitted: what that holds is released', async () => {
    const now = () => 0
    const shared = inProcessStore({ now })
    const slot = { scope: 'key_parallel_requests', subject: 'key:1', limit: 1 }
    const services = {
      clock: { now },
      storeClock: storeClock({ now }),
      store: {
        ...shared,
        async admit(call: Admission) {
          await shared.admit({ ...call, budgets: [] })
          return inProcessStore({ now }).admit(call)
        },
      },
      budgets: { spent: () => Promise.reject(new Error('away')) },
    } as unknown as PipelineServices
    const deciding = decide(services, { caller, address: '' }, ({ accounts }, seeds) => ({
      ...ASKS_NOTHING,
      callId: 'call',
      attemptId: 'attempt',
      slots: [slot],
      budgets: budgetsOf(accounts, () => ({ holdNano: 1, likelyNano: 1 }), 0, seeds),
      leaseSeconds: 100,
    }))
    await expect(deciding).rejects.toThrow('away')
    expect(await shared.standing({ quotas: [], slots: [slot.subject], budgets: [] })).toMatchObject({ taken: [0] })
  })
})
