import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { jsonLog } from '../../../../src/lib/log.ts'
import { DEADLINES } from '../../../../src/stores/kv/degrading/guarded.ts'
import { createUnsettled } from '../../../../src/stores/kv/degrading/unsettled.ts'
import { degrading } from '../../../../src/stores/kv/degrading.ts'
import { inProcessStore } from '../../../../src/stores/kv/in-process.ts'
import { answerKey, leadKey, providerIdKey } from '../../../../src/stores/kv/keys.ts'
import type { StoredValue } from '../../../../src/stores/kv/stored-value.ts'
import { budget, call, ended, settlement } from '../../../contracts/shared-store/world.ts'

it('what is told late says nothing about a deployment, and that an answer had begun is not told at all', () => {
  const unsettled = createUnsettled()
  const [failed, begun] = [ended(call(), { used: { tokens: 3 } }), ended(call(), { result: 'committed' })]
  unsettled.add(failed)
  unsettled.add(begun)
  expect(unsettled.take()?.outcomes).toMatchObject([{ result: 'neutral', used: {} }])
  // As an outcome that says nothing it would end the lease of an attempt that still runs.
  expect(unsettled.take()).toEqual({ ...begun, outcomes: [], lateMs: expect.any(Number) })
})

it('answers for the cache are not told late, nor is the end of a lead', () => {
  const unsettled = createUnsettled()
  const [answer, id] = [answerKey('one'), providerIdKey('resp_1')].map((key) => ({ key, text: '1|x', ttlSeconds: 60 }))
  const lead = { key: leadKey('one'), unkeptSeconds: 5 }
  unsettled.add(settlement('call', { lead, values: [answer, id] as StoredValue[] }))
  expect(unsettled.take()).toMatchObject({ lead: undefined, values: [id] })
})

it('says how late it is, from the first time on that it was missed', () => {
  const unsettled = createUnsettled()
  unsettled.add(settlement('call'))
  expect(unsettled.take()?.lateMs).toBeGreaterThan(0)
  unsettled.add(settlement('missed again', { lateMs: 60_000 }))
  expect(unsettled.take()?.lateMs).toBeGreaterThanOrEqual(60_000)
  expect(unsettled.take()).toBeUndefined()
})

it('what a budget was read with from the database, while a settlement waited for a store that hung, is not added again', async () => {
  const primary = inProcessStore({ now: Date.now })
  let hangs = true
  const settle: typeof primary.settle = (outcome) =>
    hangs ? new Promise<undefined>(() => {}) : primary.settle(outcome)
  const store = degrading(
    { ...primary, settle },
    {
      local: () => inProcessStore({ now: Date.now }),
      mode: 'fail_open',
      now: Date.now,
      log: jsonLog('silent', () => {}),
      deadlines: { ...DEADLINES, unhurriedMs: 60 },
    },
  )
  const spent = { budgets: [{ subject: 'team:1', period: '2026-02', holdNano: 0, spentNano: 7 }] }
  const missed = store.settle(settlement('missed', spent))
  await wait(20)
  await primary.admit(call({ budgets: [budget(100, 0, '2026-02', 7)] }))
  await missed
  hangs = false
  await store.settle(settlement('next'))
  const { budgets } = await primary.standing({ quotas: [], slots: [], budgets: ['team:1'] })
  expect(budgets).toEqual([{ period: '2026-02', spentNano: 7, heldNano: 0 }])
  await store.close()
})
