import { expect, it } from 'vitest'
import { jsonLog } from '../../src/lib/log.ts'
import { inProcessStore } from '../../src/stores/kv/in-process.ts'
import { budgetsRaised } from '../../src/telemetry/budgets-raised.ts'

it('what the store missed of several writes is brought to it at once, and more of the budget beside it', async () => {
  let now = 0
  const due: (() => unknown)[] = []
  const store = inProcessStore({ now: () => now })
  const budget = { scope: 'key_budget', subject: 'key:1', period: '', limitNano: 1000, holdNano: 0, seedNano: 100 }
  const nothing = { versions: [], quotas: [], tokens: 0, slots: [], candidates: [], leaseSeconds: 1 }
  await store.admit({ ...nothing, callId: 'call', attemptId: 'attempt', budgets: [budget] })
  const told = budgetsRaised({
    log: jsonLog('silent', () => {}),
    store,
    budgets: { spent: async (of) => of.map(() => 140) },
    timers: { after: (_, work) => due.push(work) as never, stop() {} },
  })
  const spent = async () => (await store.standing({ quotas: [], slots: [], budgets: ['key:1'] })).budgets[0]?.spentNano
  for (const spentNano of [110, 120, 130]) {
    told.raise([{ subject: 'key:1', period: '', spentNano }])
    now += 100
  }
  await told.raised()
  expect(await spent()).toBe(100)
  now += 3000
  await expect.poll(() => due.length).toBe(3)
  for (const work of due) await work()
  await told.raised()
  expect(await spent()).toBe(140)
})
