import { describe, expect, it } from 'vitest'
import type { CacheLookup } from '../../../src/stores/kv/answer-cache.ts'
import { answerKey, clearedKey, leadKey } from '../../../src/stores/kv/keys.ts'
import type { Admission, SharedStore } from '../../../src/stores/kv/shared-store.ts'
import { admitted, budget, call, kinds, only, requests, settlement, slot, type World } from './world.ts'

const lookup = (fields: Partial<CacheLookup> = {}): CacheLookup => ({
  answers: [answerKey('one')],
  clearings: [clearedKey('', ''), clearedKey('org:1', '')],
  maxAgeSeconds: 3600,
  lead: leadKey('one'),
  leadSeconds: 10,
  ...fields,
})
const asking = (fields: Partial<Admission> = {}) => call({ cache: lookup(), ...fields })
const cachedBy = async (store: SharedStore, admission: Admission) => (await admitted(store, admission)).cached
const stateOf = async (store: SharedStore, admission: Admission = asking()) => (await cachedBy(store, admission))?.state

/** Ends a call that led, with what it leaves. */
function end(store: SharedStore, { callId }: Admission, texts: Record<string, string> = {}, unkeptSeconds = 0) {
  const values = Object.entries(texts).map(([digest, text]) => ({ key: answerKey(digest), text, ttlSeconds: 60 }))
  return store.settle(settlement(callId, { lead: { key: leadKey('one'), unkeptSeconds }, values }))
}

/** Cached answers, and who asks for them. */
export function cachingContract({ fresh }: World): void {
  describe('cached answers', () => {
    it('come back with the admission, letter by letter, each at its place', async () => {
      const { store, clock } = fresh()
      const leading = asking()
      expect(await cachedBy(store, leading)).toEqual({ state: 'lead', answers: [undefined] })
      const text = `${clock.now()}|{"é":"☃𝄞\\"}\n\u0000`
      await end(store, leading, { one: text })
      expect(await cachedBy(store, asking())).toEqual({ state: 'hit', answers: [text] })
      const answers = ['none', 'one', 'other'].map(answerKey)
      expect(await cachedBy(store, call({ cache: lookup({ answers }) }))).toEqual({
        state: 'lead',
        answers: [undefined, text, undefined],
      })
      expect((await admitted(store, call())).cached).toBeUndefined()
    })

    it('count like any call and reserve nothing', async () => {
      const { store, clock } = fresh()
      const limited = { quotas: [requests(3)], slots: [slot(1)], budgets: [budget(100, 60)], candidates: only }
      const leading = asking(limited)
      expect(await stateOf(store, leading)).toBe('lead')
      const paid = { subject: 'team:1', period: '2026-02', holdNano: 60, spentNano: 60 }
      const values = [{ key: answerKey('one'), text: `${clock.now()}|x`, ttlSeconds: 60 }]
      const lead = { key: leadKey('one'), unkeptSeconds: 0 }
      await store.settle(settlement(leading.callId, { slots: ['key:1'], budgets: [paid], lead, values }))
      const before = await store.signals(['east'])
      // A hold of 60 would not fit beside the 60 that were spent.
      const hit = await admitted(store, asking(limited))
      expect(hit).toMatchObject({ cached: { state: 'hit' }, reserved: undefined, signals: [], spentNano: [60] })
      expect(hit.quotas.used).toEqual([2])
      expect(await store.signals(['east'])).toEqual(before)
      expect(await kinds(store, call({ slots: [slot(1)], budgets: [budget(100, 40)] }))).toEqual(['admitted'])
      expect((await admitted(store, asking({ quotas: [requests(3)] }))).quotas.used).toEqual([3])
      expect(await store.admit(asking({ quotas: [requests(3)] }))).toMatchObject({ kind: 'refused', reason: 'quota' })
    })

    it('are refused to a call without a slot, and to one whose budget is spent', async () => {
      const { store, clock } = fresh()
      const leading = asking({ slots: [slot(1)], budgets: [budget(100, 100)] })
      expect(await stateOf(store, leading)).toBe('lead')
      expect(await store.admit(asking({ slots: [slot(1)] }))).toMatchObject({ kind: 'refused', reason: 'slot' })
      await end(store, leading, { one: `${clock.now()}|x` })
      expect(await store.admit(asking({ slots: [slot(1)] }))).toMatchObject({ kind: 'refused', reason: 'slot' })
      expect(await stateOf(store, asking({ budgets: [budget(100, 100)] }))).toBe('hit')
      const paid = { subject: 'team:1', period: '2026-02', holdNano: 100, spentNano: 100 }
      await store.settle(settlement('other', { budgets: [paid] }))
      expect(await store.admit(asking({ budgets: [budget(100, 100)] }))).toMatchObject({
        kind: 'refused',
        reason: 'budget',
      })
      expect(await store.admit(asking({ budgets: [{ ...budget(0, 0), subject: 'key:1' }] }))).toMatchObject({
        kind: 'refused',
      })
    })

    it('end with their age, with a clearing, and with damage', async () => {
      const { store, clock } = fresh()
      const hit = () => stateOf(store, call({ cache: lookup({ lead: leadKey(String(Math.random())) }) }))
      const keep = (text: string) =>
        store.settle(settlement(call().callId, { values: [{ key: answerKey('one'), text, ttlSeconds: 86_400 }] }))
      await keep(`${clock.now()}|x`)
      clock.advance(3_599_999)
      expect(await hit()).toBe('hit')
      clock.advance(1)
      expect(await hit()).toBe('lead')
      await keep(`${clock.now()}|x`)
      await store.stamp(clearedKey('org:2', ''), 86_400)
      expect(await hit()).toBe('hit')
      await store.stamp(clearedKey('org:1', ''), 86_400)
      expect(await hit()).toBe('lead')
      // Asked for before the clearing, and answered after it.
      await keep(`${clock.now()}|x`)
      expect(await hit()).toBe('lead')
      clock.advance(1)
      await keep(`${clock.now()}|x`)
      expect(await hit()).toBe('hit')
      for (const damaged of ['', '|', 'x', `-${clock.now()}|x`, `${clock.now()}`, `x${clock.now()}|`]) {
        await keep(damaged)
        expect(await hit(), damaged).toBe('lead')
      }
    })
  })

  describe('identical calls', () => {
    it('follow the first one, which leads until it is settled', async () => {
      const { store } = fresh()
      const [first, second] = [asking(), asking()]
      expect(await stateOf(store, first)).toBe('lead')
      expect(await cachedBy(store, second)).toEqual({ state: 'follow', answers: [] })
      expect(await stateOf(store, first)).toBe('lead')
      expect(await stateOf(store, call({ cache: lookup({ lead: leadKey('another') }) }))).toBe('lead')
      // Only the leader ends its lead.
      await end(store, second)
      expect(await stateOf(store)).toBe('follow')
      await end(store, first)
      expect(await stateOf(store, second)).toBe('lead')
      await end(store, first)
      expect(await stateOf(store)).toBe('follow')
    })

    it('hold nothing while they follow', async () => {
      const { store } = fresh()
      const limited = { slots: [slot(2)], budgets: [budget(100, 90)], candidates: only }
      expect(await stateOf(store, asking(limited))).toBe('lead')
      for (let time = 0; time < 5; time++) expect(await stateOf(store, asking(limited))).toBe('follow')
      expect((await store.signals(['east']))[0]).toMatchObject({ active: 1, used: { requests: 1 } })
      expect(await kinds(store, call({ slots: [slot(2)], budgets: [budget(100, 10)] }))).toEqual(['admitted'])
    })

    it('get another leader when the lease of the first has ended, unless it was renewed', async () => {
      const { store, clock } = fresh()
      const first = asking()
      expect(await stateOf(store, first)).toBe('lead')
      clock.advance(9_000)
      const lead = { key: leadKey('one'), seconds: 10 }
      await store.renew({ callId: first.callId, attemptIds: [], slots: [], budgets: [], leaseSeconds: 60, lead })
      clock.advance(9_999)
      expect(await stateOf(store)).toBe('follow')
      clock.advance(1)
      const next = asking()
      expect(await stateOf(store, next)).toBe('lead')
      await store.renew({ callId: first.callId, attemptIds: [], slots: [], budgets: [], leaseSeconds: 60, lead })
      await end(store, first)
      clock.advance(9_999)
      expect(await stateOf(store)).toBe('follow')
      clock.advance(1)
      expect(await stateOf(store)).toBe('lead')
    })

    it('do not follow a call that began before a clearing', async () => {
      const { store } = fresh()
      expect(await stateOf(store)).toBe('lead')
      await store.stamp(clearedKey('', ''), 60)
      expect(await stateOf(store)).toBe('lead')
    })

    it('each go alone for a while after an answer that is not kept', async () => {
      const { store, clock } = fresh()
      const first = asking()
      expect(await stateOf(store, first)).toBe('lead')
      await end(store, first, {}, 5)
      expect(await stateOf(store)).toBe('alone')
      expect(await stateOf(store, asking({ candidates: only }))).toBe('alone')
      expect((await store.signals(['east']))[0]).toMatchObject({ active: 1 })
      clock.advance(5000)
      expect(await stateOf(store)).toBe('lead')
    })

    it('of one moment have one leader', async () => {
      const { open, store } = fresh()
      const other = open()
      const states = await Promise.all(Array.from({ length: 40 }, (_, at) => stateOf(at % 2 ? store : other)))
      expect(states.filter((state) => state === 'lead')).toHaveLength(1)
      expect(states.filter((state) => state === 'follow')).toHaveLength(39)
    })
  })
}
