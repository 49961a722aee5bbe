import { expect, it } from 'vitest'
import { createUnsettled } from '../../../../src/stores/kv/degrading/unsettled.ts'
import { answerKey, leadKey, providerIdKey } from '../../../../src/stores/kv/keys.ts'
import type { StoredValue } from '../../../../src/stores/kv/stored-value.ts'
import { call, ended, settlement } from '../../../contracts/shared-store/world.ts'

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
