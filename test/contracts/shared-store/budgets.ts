import { describe, expect, it } from 'vitest'
import { budgetKey } from '../../../src/stores/kv/keys.ts'
import type { Admission, Refused } from '../../../src/stores/kv/shared-store.ts'
import { admitted, budget, call, kinds, requests, settlement, type World } from './world.ts'

/** Money: neither overspent nor pinned. */
export function budgetsContract({ fresh }: World): void {
  describe('budgets', () => {
    const DIME = 100_000_000

    it('lets 50 of 200 concurrent calls of $0.10 into a budget of $5.00, and all the rest of it is spendable', async () => {
      const { store, open } = fresh()
      const other = open()
      const asked = Array.from({ length: 200 }, () => call({ budgets: [budget(50 * DIME, DIME)] }))
      const answers = await Promise.all(asked.map((admission, at) => (at % 2 ? store : other).admit(admission)))
      const passed = asked.filter((_, at) => answers[at]?.kind === 'admitted')
      expect(passed).toHaveLength(50)
      const spent = { subject: 'team:1', period: '2026-02', holdNano: DIME, spentNano: DIME / 2 }
      await Promise.all(passed.map(({ callId }) => other.settle(settlement(callId, { budgets: [spent] }))))
      expect(
        await kinds(
          store,
          call({ budgets: [budget(50 * DIME, 25 * DIME)] }),
          call({ budgets: [budget(50 * DIME, 1)] }),
        ),
      ).toEqual(['admitted', 'refused'])
    })

    it('says of a budget that refuses what it has spent, and of nothing else that does', async () => {
      const { store } = fresh()
      const refusal = async (admission: Admission) => {
        const { kind, spentNano } = (await store.admit(admission)) as Refused
        return [kind, spentNano]
      }
      expect(await refusal(call({ budgets: [budget(100, 60, '2026-02', 41)] }))).toEqual(['refused', 41])
      expect(await refusal(call({ budgets: [budget(40, 0, '2026-02', 41)] }))).toEqual(['refused', 41])
      await admitted(store, call({ budgets: [budget(100, 50, '2026-02', 41)] }))
      expect(await refusal(call({ budgets: [budget(100, 10)] }))).toEqual(['refused', 41])
      expect(await refusal(call({ quotas: [requests(0)], budgets: [budget(100, 10)] }))).toEqual(['refused', undefined])
    })

    it('asks of a call alone only what it probably costs, and of calls together what they may cost', async () => {
      const { store } = fresh()
      const careful = (spentNano: number) =>
        call({ budgets: [{ ...budget(100, 90, '2026-02', spentNano), likelyNano: 20 }] })
      const first = careful(50)
      expect(await admitted(store, first)).toMatchObject({ spentNano: [50] })
      expect(await kinds(store, careful(50))).toEqual(['refused'])
      const spent = { subject: 'team:1', period: '2026-02', holdNano: 90, spentNano: 31 }
      await store.settle(settlement(first.callId, { budgets: [spent] }))
      expect(await kinds(store, careful(0))).toEqual(['refused'])
    })

    it('takes what a call holds already for its own, while it still does, and what others hold for theirs', async () => {
      const { store, clock } = fresh()
      const first = call({ budgets: [{ ...budget(100, 150), likelyNano: 10 }] })
      await admitted(store, first)
      const more = (holdNano: number, likelyNano: number, ownNano: number[]) => ({
        ...call({ budgets: [{ ...budget(100, holdNano), likelyNano, ownNano }] }),
        callId: first.callId,
      })
      expect(await kinds(store, more(70, 20, []), more(70, 101, [150]), more(70, 100, [150]))).toEqual([
        'refused',
        'refused',
        'admitted',
      ])
      expect(await kinds(store, more(71, 30, [150, 70]), call({ budgets: [budget(100, 1)] }))).toEqual([
        'admitted',
        'refused',
      ])
      clock.advance(30_000)
      const small = call({ budgets: [budget(100, 40)] })
      expect(await kinds(store, small, more(61, 1, [150, 70, 71]), more(60, 1, [150, 70, 71]))).toEqual([
        'admitted',
        'refused',
        'admitted',
      ])
    })

    it('is asked of the database again when it was removed', async () => {
      const { store } = fresh()
      const asked = (seedNano: number | 'unseeded') => call({ budgets: [budget(100, 10, '2026-02', seedNano)] })
      expect(await kinds(store, asked(0), asked('unseeded'))).toEqual(['admitted', 'admitted'])
      await store.remove(budgetKey('team:1'))
      expect(await kinds(store, asked('unseeded'), asked(100))).toEqual(['stale', 'refused'])
    })

    it('knows what running calls hold of it also when it was removed and is read again', async () => {
      const { store } = fresh()
      const asked = (holdNano: number, seedNano: number) =>
        call({ budgets: [budget(100, holdNano, '2026-02', seedNano)] })
      const [running, another] = [asked(40, 0), asked(20, 0)]
      expect(await kinds(store, running, another)).toEqual(['admitted', 'admitted'])
      await store.remove(budgetKey('team:1'))
      expect((await store.standing({ quotas: [], slots: [], budgets: ['team:1'] })).budgets).toEqual([undefined])
      const settled = (callId: string, holdNano: number) =>
        settlement(callId, { budgets: [{ subject: 'team:1', period: '2026-02', holdNano, spentNano: 5 }] })
      // Of which the database has the spend.
      await store.settle(settled(another.callId, 20))
      expect(await kinds(store, asked(51, 10), asked(50, 10))).toEqual(['refused', 'admitted'])
      await store.settle(settled(running.callId, 40))
      expect(await kinds(store, asked(36, 0), asked(35, 0))).toEqual(['refused', 'admitted'])
    })

    it('is usable at once after calls with huge holds were cancelled or never settled', async () => {
      const { store, clock } = fresh()
      const cancelled = call({ budgets: [budget(100, 100)] })
      expect(await kinds(store, cancelled, call({ budgets: [budget(100, 1)] }))).toEqual(['admitted', 'refused'])
      await store.settle(
        settlement(cancelled.callId, {
          budgets: [{ subject: 'team:1', period: '2026-02', holdNano: 100, spentNano: 0 }],
        }),
      )
      expect(await kinds(store, call({ budgets: [budget(100, 100)] }))).toEqual(['admitted'])
      clock.advance(30_000)
      expect(await kinds(store, call({ budgets: [budget(100, 100)] }))).toEqual(['admitted'])
    })

    it('refuses a free call when the budget is spent, and everything at 0', async () => {
      const { store } = fresh()
      expect(await kinds(store, call({ budgets: [budget(10, 0, '2026-02', 10)] }))).toEqual(['refused'])
      expect(await kinds(store, call({ budgets: [budget(0, 0)] }))).toEqual(['refused'])
      expect(await kinds(store, call({ budgets: [budget(11, 0, '2026-02', 10)] }))).toEqual(['admitted'])
    })

    it('starts a new period at its seed or at nothing, holds a late call against the newer one', async () => {
      const { store } = fresh()
      expect(await kinds(store, call({ budgets: [budget(10, 0, '2026-02', 9)] }))).toEqual(['admitted'])
      expect(await kinds(store, call({ budgets: [budget(10, 2, '2026-02', 'unseeded')] }))).toEqual(['refused'])
      expect(await kinds(store, call({ budgets: [budget(10, 2, '2026-03', 8)] }))).toEqual(['admitted'])
      expect(await kinds(store, call({ budgets: [budget(10, 1, '2026-02', 'unseeded')] }))).toEqual(['stale'])
      expect(await kinds(store, call({ budgets: [budget(10, 1, '2026-02', 0)] }))).toEqual(['refused'])
      expect(await kinds(store, call({ budgets: [budget(10, 8, '2026-04', 'unseeded')] }))).toEqual(['admitted'])
    })

    it('holds nothing of a new period for calls that an earlier one pays for, and all for its own', async () => {
      const { store } = fresh()
      const asked = (holdNano: number, period: string) => call({ budgets: [budget(100, holdNano, period, 'unseeded')] })
      const running = call({ budgets: [budget(100, 90)] })
      await admitted(store, running)
      expect(await kinds(store, asked(101, '2026-03'), asked(11, '2026-02'))).toEqual(['refused', 'refused'])
      expect(await kinds(store, asked(60, '2026-03'), asked(41, '2026-03'))).toEqual(['admitted', 'refused'])
      const lease = { callId: running.callId, attemptIds: [], slots: [], leaseSeconds: 60 }
      await store.renew({ ...lease, budgets: [{ subject: 'team:1', holdNano: 90 }] })
      const spent = { subject: 'team:1', period: '2026-02', holdNano: 90, spentNano: 80 }
      await store.settle(settlement(running.callId, { budgets: [spent] }))
      expect((await store.standing({ quotas: [], slots: [], budgets: ['team:1'] })).budgets).toEqual([
        { period: '2026-03', spentNano: 0, heldNano: 60 },
      ])
      const dearer = { ...budget(100, 30, '2026-04', 'unseeded'), likelyNano: 90, ownNano: [90] }
      expect(await kinds(store, { ...call({ budgets: [dearer] }), callId: running.callId })).toEqual(['admitted'])
    })

    it('does not keep to a period that was begun before its clock was set back', async () => {
      const { store, clock } = fresh()
      const [day, next] = ['2026-02-10T20:00:00.500Z', '2026-02-11T20:00:00.500Z']
      const asked = (period: string, hold: number, seedNano: number | 'unseeded' = 'unseeded') =>
        call({ budgets: [budget(100, hold, period, seedNano)] })
      const spent = (period: string, spentNano: number) =>
        store.settle(settlement(call().callId, { budgets: [{ subject: 'team:1', period, holdNano: 0, spentNano }] }))
      await admitted(store, asked(day, 0, 10))
      // Before it begins, only with a seed.
      expect(await store.admit(asked(next, 0))).toMatchObject({ kind: 'stale', records: [], budgets: ['team:1'] })
      clock.advance(86_400_000)
      await admitted(store, asked(next, 0))
      clock.advance(-86_400_000)
      expect(await store.admit(asked(day, 0))).toMatchObject({ kind: 'stale', records: [], budgets: ['team:1'] })
      expect(await kinds(store, asked(day, 86, 15), asked(day, 85, 15))).toEqual(['refused', 'admitted'])
      await spent(next, 100)
      await spent(day, 5)
      const { budgets } = await store.standing({ quotas: [], slots: [], budgets: ['team:1'] })
      expect(budgets).toEqual([{ period: day, spentNano: 20, heldNano: 85 }])
    })

    it('adds what was spent to its own period only', async () => {
      const { store } = fresh()
      const spent = (period: string, spentNano: number) =>
        store.settle(settlement(call().callId, { budgets: [{ subject: 'team:1', period, holdNano: 0, spentNano }] }))
      await admitted(store, call({ budgets: [budget(100, 0, '2026-02', 50)] }))
      await spent('2026-01', 40)
      await spent('2026-02', 40)
      expect(await kinds(store, call({ budgets: [budget(90, 0)] }), call({ budgets: [budget(91, 0)] }))).toEqual([
        'refused',
        'admitted',
      ])
      await spent('2026-03', 7)
      await spent('2026-02', 1000)
      const march = (limit: number) => call({ budgets: [budget(limit, 0, '2026-03', 'unseeded')] })
      expect(await kinds(store, march(7), march(8))).toEqual(['refused', 'admitted'])
    })

    it('counts what it missed once: what it was read with from the database since is not added again', async () => {
      const { store, clock } = fresh()
      const missed = (lateMs: number | undefined, spentNano: number) =>
        store.settle(
          settlement(call().callId, {
            lateMs,
            budgets: [{ subject: 'team:1', period: '2026-02', holdNano: 0, spentNano }],
          }),
        )
      await admitted(store, call({ budgets: [budget(100, 0, '2026-02', 50)] }))
      clock.advance(1000)
      await missed(1001, 40)
      await missed(1000, 4)
      await missed(undefined, 2)
      await missed(1, 1)
      expect(await kinds(store, call({ budgets: [budget(57, 0)] }), call({ budgets: [budget(58, 0)] }))).toEqual([
        'refused',
        'admitted',
      ])
    })

    it('is raised to what the ledger says once it has been below that for three seconds', async () => {
      const { store, clock } = fresh()
      const raise = (spentNano: number, period = '2026-02') => store.raise([{ subject: 'team:1', period, spentNano }])
      const spent = async () =>
        (await store.standing({ quotas: [], slots: [], budgets: ['team:1'] })).budgets[0]?.spentNano
      const below = [{ subject: 'team:1', period: '2026-02', spentNano: 70 }]
      expect(await raise(7)).toEqual([])
      expect(await spent()).toBeUndefined()
      await admitted(store, call({ budgets: [budget(100, 0, '2026-02', 50)] }))
      expect(await raise(70)).toEqual(below)
      clock.advance(2999)
      expect(await raise(70)).toEqual(below)
      expect(await spent()).toBe(50)
      // What was on its way has come.
      await store.settle(
        settlement(call().callId, { budgets: [{ subject: 'team:1', period: '2026-02', holdNano: 0, spentNano: 20 }] }),
      )
      clock.advance(1)
      await raise(70)
      await raise(80)
      clock.advance(3000)
      await raise(90, '2026-01')
      expect(await spent()).toBe(70)
      expect(await raise(81)).toEqual([])
      expect(await spent()).toBe(81)
      // A settlement that was missed before is in it.
      const late = { subject: 'team:1', period: '2026-02', holdNano: 0, spentNano: 1 }
      await store.settle(settlement(call().callId, { lateMs: 1, budgets: [late] }))
      expect(await spent()).toBe(81)
      await raise(60)
      expect(await spent()).toBe(81)
    })

    it('is exact to the nano-dollar in the millions', async () => {
      const { store } = fresh()
      const millions = 9_007_199_254_740_000
      const first = call({ budgets: [budget(millions, 1, '', millions - 3)] })
      await admitted(store, first)
      await store.settle(
        settlement(first.callId, { budgets: [{ subject: 'team:1', period: '', holdNano: 1, spentNano: 1 }] }),
      )
      expect(
        await kinds(
          store,
          call({ budgets: [budget(millions, 1, '', 'unseeded')] }),
          call({ budgets: [budget(millions, 1, '', 'unseeded')] }),
          call({ budgets: [budget(millions, 1, '', 'unseeded')] }),
        ),
      ).toEqual(['admitted', 'admitted', 'refused'])
    })

    it('adds to a period without end only what calls spent in that one, and also of calls that held nothing', async () => {
      const { store } = fresh()
      const began = (limit: number, since: string) => ({ ...budget(limit, 0, ''), since })
      const spent = (since: string, spentNano: number) =>
        store.settle(
          settlement(call().callId, { budgets: [{ subject: 'team:1', period: '', since, holdNano: 0, spentNano }] }),
        )
      await admitted(store, call({ budgets: [began(100, '2026-02')] }))
      await spent('2026-01', 40)
      await spent('2026-02', 7)
      const asked = (limit: number) => call({ budgets: [began(limit, '2026-02')] })
      expect(await kinds(store, asked(7), asked(8))).toEqual(['refused', 'admitted'])
    })

    it('is read again for a period without end that began later than the one it knows, and counts no further call of that', async () => {
      const { store } = fresh()
      const began = (since: string, limit: number, seed: number | 'unseeded') =>
        call({ budgets: [{ ...budget(limit, 0, '', seed), since }] })
      await admitted(store, began('2026-01', 100, 90))
      expect(await store.admit(began('2026-02', 100, 'unseeded'))).toMatchObject({ kind: 'stale', budgets: ['team:1'] })
      await admitted(store, began('2026-02', 100, 5))
      await store.settle(
        settlement(call().callId, {
          budgets: [{ subject: 'team:1', period: '', since: '2026-01', holdNano: 0, spentNano: 40 }],
        }),
      )
      const asked = (since: string, limit: number) => began(since, limit, 'unseeded')
      expect(await kinds(store, asked('2026-01', 5), asked('2026-02', 5), asked('2026-02', 6))).toEqual([
        'refused',
        'refused',
        'admitted',
      ])
    })

    it('stays unknown when only a settlement names it', async () => {
      const { store } = fresh()
      await store.settle(
        settlement('gone', { budgets: [{ subject: 'team:1', period: '2026-02', holdNano: 1, spentNano: 5 }] }),
      )
      expect(await store.admit(call({ budgets: [budget(9, 1, '2026-02', 'unseeded')] }))).toMatchObject({
        kind: 'stale',
        records: [],
        budgets: ['team:1'],
      })
    })
  })
}
