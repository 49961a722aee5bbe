import { describe, expect, it } from 'vitest'
import type { DeploymentOutcome } from '../../../src/stores/kv/deployment-signals.ts'
import type { Key } from '../../../src/stores/kv/keys.ts'
import type { Admission, SharedStore } from '../../../src/stores/kv/shared-store.ts'
import { admitted, budget, call, ended, kinds, only, settlement, slot, type World } from './world.ts'

/** What a call leaves behind, once. */
export function settlingContract({ fresh }: World): void {
  describe('settling', () => {
    it('twice is once', async () => {
      const { store, clock } = fresh()
      const paid = call({ budgets: [budget(100, 10)], candidates: only })
      await admitted(store, paid)
      const outcome = {
        ...ended(paid, { used: { tokens: 5 } }),
        budgets: [{ subject: 'team:1', period: '2026-02', holdNano: 10, spentNano: 10 }],
        counters: { requests: 1, seconds: 0.25 },
        entries: [{ log: 'fallbacks', text: 'one', keep: 10 }],
      }
      await Promise.all([store.settle(outcome), store.settle(outcome)])
      clock.advance(59_000)
      await store.settle(outcome)
      expect((await store.signals(['east']))[0]).toMatchObject({ failures: 1, used: { requests: 1, tokens: 5 } })
      expect(await store.counters()).toEqual({ requests: 1, seconds: 0.25 })
      expect(await store.entries('fallbacks', 10)).toEqual(['one'])
      expect(await kinds(store, call({ budgets: [budget(100, 90)] }))).toEqual(['admitted'])
    })

    it('counts so many series of a metric, and further ones as others', async () => {
      const { store } = fresh()
      const hostile = (name: string) => `"${name}",le=\\"`.replace(/["\\]/g, '\\$&')
      const seriesOf = (from: number, to: number, amount = 1) =>
        Object.fromEntries(
          Array.from({ length: to - from }, (_, index) => [
            `tokens{key="${hostile(`k${from + index}`)}",team=""}`,
            amount,
          ]),
        )
      const nothing = { slots: [], budgets: [], outcomes: [], entries: [] }
      await store.settle({ ...nothing, callId: 'some', counters: seriesOf(0, 1500) })
      await store.settle({ ...nothing, callId: 'more', counters: { ...seriesOf(1400, 2003), requests: 1 } })
      const buckets = Object.fromEntries(
        Array.from({ length: 2001 }, (_, index) => [`seconds_bucket{model="m${index}",le="0.5"}`, 1]),
      )
      await store.settle({ ...nothing, callId: 'buckets', counters: buckets })
      // What is known is counted on.
      await store.settle({ ...nothing, callId: 'known', counters: seriesOf(0, 1, 0.5) })
      await store.settle({ ...nothing, callId: 'beyond', counters: seriesOf(5000, 5002, 0.25) })
      const counted = (await store.counters()) ?? {}
      const tokens = Object.entries(counted).filter(([name]) => name.startsWith('tokens'))
      expect([tokens.length, counted.requests]).toEqual([2001, 1])
      expect(counted[`tokens{key="${hostile('k0')}",team=""}`]).toBe(1.5)
      expect(counted[`tokens{key="${hostile('k1450')}",team=""}`]).toBe(2)
      expect(counted['tokens{key="other",team="other"}']).toBe(3.5)
      expect(tokens.reduce((sum, [, amount]) => sum + amount, 0)).toBe(1500 + 603 + 0.5 + 0.5)
      expect(counted['seconds_bucket{model="other",le="0.5"}']).toBe(1)
      expect(Object.keys(counted).every((name) => /^(tokens|seconds_bucket|requests)/.test(name))).toBe(true)
    })

    /** A call that was settled, with all that a settlement can tell, and then admitted once more by another attempt. */
    async function repeatedCall(store: SharedStore) {
      const first = call({ slots: [slot(1)], budgets: [budget(100, 10)], candidates: only })
      const outcomeOf = (admission: Admission, fields: Partial<DeploymentOutcome>) => ({
        ...ended(admission, fields),
        slots: ['key:1'],
        budgets: [{ subject: 'team:1', period: '2026-02', holdNano: 10, spentNano: 7 }],
        counters: { requests: 1 },
        entries: [{ log: 'fallbacks', text: 'one', keep: 10 }],
        values: [{ key: 'made:1' as Key, text: admission.attemptId, ttlSeconds: 60 }],
      })
      await admitted(store, first)
      await store.settle(outcomeOf(first, { result: 'succeeded', latencyMs: 100 }))
      const again = { ...first, attemptId: `${first.attemptId}/again` }
      await admitted(store, again)
      return { first, again, outcomeOf }
    }

    it('releases what a call holds that ran once more, and nothing else', async () => {
      const { store } = fresh()
      const { first, again, outcomeOf } = await repeatedCall(store)
      const [running] = await store.signals(['east'])
      expect(running).toMatchObject({ active: 1, used: { requests: 2 } })
      expect(await kinds(store, call({ slots: [slot(1)] }), call({ budgets: [budget(100, 90)] }))).toEqual([
        'refused',
        'refused',
      ])
      await store.settle(outcomeOf(again, { used: { tokens: 5 }, latencyMs: 900 }))
      expect(await store.signals(['east'])).toEqual([{ ...running, active: 0 }])
      expect(await store.counters()).toEqual({ requests: 1 })
      expect(await store.entries('fallbacks', 10)).toEqual(['one'])
      expect(await store.get('made:1' as Key)).toBe(first.attemptId)
      // Of the budget the first has spent 7.
      expect(await kinds(store, call({ slots: [slot(1)] }), call({ budgets: [budget(100, 94)] }))).toEqual([
        'admitted',
        'refused',
      ])
      expect(await kinds(store, call({ budgets: [budget(100, 93)] }))).toEqual(['admitted'])
    })

    it('releases the probe of a call that ran once more, so that another one may be', async () => {
      const { store, clock } = fresh()
      const { first, again, outcomeOf } = await repeatedCall(store)
      await store.settle(outcomeOf(again, {}))
      await store.settle(ended(call(), { attemptId: 'of another', cooldown: { allowedFails: 0, seconds: 10 } }))
      clock.advance(11_000)
      const probe = { ...first, attemptId: 'probe' }
      expect(await store.admit(probe)).toMatchObject({ reserved: { probe: true } })
      expect(await store.admit(call({ candidates: only }))).toMatchObject({ reserved: undefined })
      await store.settle(outcomeOf(probe, { result: 'committed' }))
      expect((await store.signals(['east']))[0]).toMatchObject({ active: 1, probing: true, failures: 1 })
      await store.settle(outcomeOf(probe, { result: 'succeeded' }))
      expect((await store.signals(['east']))[0]).toMatchObject({ active: 0, probing: false, failures: 1 })
      expect(await store.admit(call({ candidates: only }))).toMatchObject({ reserved: { probe: true } })
    })

    it('leaves a call unsettled where it has an id of its own, once for each', async () => {
      const { store } = fresh()
      const tried = call({ slots: [slot(1)], budgets: [budget(100, 10)], candidates: only })
      await admitted(store, tried)
      const outcome = {
        ...ended(tried),
        slots: ['key:1'],
        budgets: [{ subject: 'team:1', period: '2026-02', holdNano: 10, spentNano: 0 }],
        counters: { requests: 1 },
      }
      for (const id of ['first', 'first', 'second']) await store.settle({ ...outcome, id })
      expect((await store.signals(['east']))[0]).toMatchObject({ active: 0, failures: 2 })
      expect(await store.counters()).toEqual({ requests: 2 })
      const again = { ...tried, attemptId: 'again', candidates: [] }
      await admitted(store, again)
      const [{ subject, period, holdNano }] = outcome.budgets as [(typeof outcome.budgets)[0]]
      await store.settle({ ...outcome, budgets: [{ subject, period, holdNano, spentNano: 60 }], outcomes: [] })
      expect(await kinds(store, call({ budgets: [budget(100, 41)] }))).toEqual(['refused'])
      expect(await kinds(store, call({ slots: [slot(1)], budgets: [budget(100, 40)] }))).toEqual(['admitted'])
    })

    it('keeps the newest entries of a log, newest first', async () => {
      const { store } = fresh()
      for (const text of ['1', '2', '3', '4']) {
        await store.settle(settlement(call().callId, { entries: [{ log: 'fallbacks', text, keep: 3 }] }))
      }
      expect(await store.entries('fallbacks', 10)).toEqual(['4', '3', '2'])
      expect(await store.entries('fallbacks', 1)).toEqual(['4'])
      expect(await store.entries('fallbacks', 0)).toEqual([])
    })
  })
}
