import { describe, expect, it } from 'vitest'
import type { RawRedis } from '../../support/raw-redis.ts'
import {
  admitted,
  budget,
  call,
  EVENING,
  kinds,
  MINUTE,
  only,
  requests,
  settlement,
  slot,
  tokens,
  type World,
} from './world.ts'

/** Quotas and parallel slots: exact, atomic, and free again in time. */
export function limitsContract({ fresh, raw }: World): void {
  describe('limits', () => {
    it('admits exactly 100 of 500 concurrent calls against a limit of 100, from two clients', async () => {
      const { store, open } = fresh()
      const other = open()
      const answers = await Promise.all(
        Array.from({ length: 500 }, (_, at) => (at % 2 ? store : other).admit(call({ quotas: [requests(100)] }))),
      )
      expect(answers.filter(({ kind }) => kind === 'admitted')).toHaveLength(100)
      expect(answers.filter(({ kind }) => kind === 'refused')).toHaveLength(400)
    })

    it('counts what it admits and says until when', async () => {
      const { store, clock } = fresh()
      await admitted(store, call({ quotas: [requests(5), tokens(9)], tokens: 2 }))
      clock.advance(1000)
      const { quotas, now } = await admitted(store, call({ quotas: [tokens(9), requests(5)], tokens: 3 }))
      expect(now).toBe(EVENING + 1000)
      expect(quotas).toEqual({ used: [5, 2], resetsAt: [EVENING + MINUTE, EVENING + MINUTE] })
    })

    it.each(['minute', 'hour', 'day'] as const)('opens a new %s when the clock was set back', async (window) => {
      const { store, clock } = fresh()
      const quotas = [{ ...requests(1), window }]
      await admitted(store, call({ quotas }))
      const { resetsAt } = (await store.standing({ quotas, slots: [], budgets: [] })).quotas
      clock.advance(-3 * 24 * 60 * MINUTE)
      expect((await store.standing({ quotas, slots: [], budgets: [] })).quotas.used).toEqual([0])
      const anew = await admitted(store, call({ quotas }))
      expect(anew.quotas.resetsAt).toEqual(resetsAt.map((time) => time - 3 * 24 * 60 * MINUTE))
      expect((await store.admit(call({ quotas }))).kind).toBe('refused')
    })

    it('refuses in the order given, and names the end of the window that refused', async () => {
      const { store } = fresh()
      const daily = { ...requests(1), scope: 'org_rpd', subject: 'org:1', window: 'day' } as const
      const hourly = { ...requests(1), scope: 'key_rph', window: 'hour' } as const
      await admitted(store, call({ quotas: [daily, hourly], slots: [slot(1)], budgets: [budget(1, 1)] }))
      const full = { slots: [slot(1)], budgets: [budget(1, 1)] }
      const ends = [Date.UTC(2026, 1, 11), Date.UTC(2026, 1, 10, 21)]
      const states = { used: [1, 1], resetsAt: ends }
      const none = { used: [], resetsAt: [] }
      const refusal = { kind: 'refused', now: EVENING, quotas: states }
      expect(await store.admit(call({ quotas: [daily, hourly], ...full }))).toEqual({
        ...refusal,
        reason: 'quota',
        scope: 'org_rpd',
        subject: 'org:1',
        resetsAt: Date.UTC(2026, 1, 11),
      })
      expect(await store.admit(call({ quotas: [hourly, daily], ...full }))).toEqual({
        ...refusal,
        reason: 'quota',
        scope: 'key_rph',
        subject: 'key:1',
        resetsAt: Date.UTC(2026, 1, 10, 21),
        quotas: { used: [1, 1], resetsAt: ends.toReversed() },
      })
      expect(await store.admit(call(full))).toEqual({
        ...refusal,
        reason: 'slot',
        scope: 'key_parallel_requests',
        subject: 'key:1',
        resetsAt: undefined,
        quotas: none,
      })
      expect(await store.admit(call({ budgets: full.budgets }))).toEqual({
        ...refusal,
        reason: 'budget',
        spentNano: 0,
        scope: 'team_budget',
        subject: 'team:1',
        resetsAt: undefined,
        quotas: none,
      })
    })

    it.each([
      ['minute', EVENING + MINUTE],
      ['hour', Date.UTC(2026, 1, 10, 21)],
      ['day', Date.UTC(2026, 1, 11)],
    ] as const)('forgets a %s at its end, not before', async (window, end) => {
      const { store, clock } = fresh()
      const quotas = [{ ...requests(1), window }]
      clock.set(EVENING)
      await admitted(store, call({ quotas }))
      clock.set(end - 1)
      expect(await kinds(store, call({ quotas }))).toEqual(['refused'])
      clock.set(end)
      expect(await kinds(store, call({ quotas }), call({ quotas }))).toEqual(['admitted', 'refused'])
    })

    it('refuses everything at limit 0, even what costs nothing; a free call passes a limit that is used up', async () => {
      const { store } = fresh()
      expect(await kinds(store, call({ quotas: [tokens(0)], tokens: 0 }))).toEqual(['refused'])
      expect(
        await kinds(
          store,
          call({ quotas: [tokens(1)] }),
          call({ quotas: [tokens(1)], tokens: 0 }),
          call({ quotas: [tokens(1)] }),
        ),
      ).toEqual(['admitted', 'admitted', 'refused'])
    })

    it.runIf(raw)('leaves every key and value as it was when it refuses or finds something stale', async () => {
      const { store, prefix, clock } = fresh()
      const redis = raw as RawRedis
      const quotas = [{ ...requests(3), subject: 'org:1' }, requests(2)]
      const rest = { slots: [slot(2)], versions: [{ record: 'key:1', version: 7 }], candidates: only }
      const first = call({ quotas, budgets: [budget(10, 5)], leaseSeconds: 5, ...rest })
      await admitted(store, first)
      await admitted(store, call({ quotas, budgets: [budget(10, 5)], leaseSeconds: 60, ...rest }))
      // The first lease has ended: what could be tidied up must be left alone, too.
      clock.advance(6000)
      const before = await redis.dump(prefix)
      expect(Object.keys(before).length).toBeGreaterThanOrEqual(8)
      const newer = [
        { record: 'key:1', version: 8 },
        { record: 'key:2', version: 1 },
      ]
      expect(
        await kinds(
          store,
          call({ quotas, ...rest, versions: newer }),
          call({ quotas: [{ ...requests(9), subject: 'org:2' }, requests(2)], versions: newer }),
          call({
            quotas: [{ ...requests(9), subject: 'org:1' }],
            slots: [slot(1)],
            versions: newer,
            candidates: only,
          }),
          call({
            quotas: [{ ...requests(9), subject: 'org:1' }],
            budgets: [budget(5, 1)],
            versions: newer,
            candidates: only,
          }),
          call({ quotas: [{ ...requests(9), subject: 'org:1' }], budgets: [budget(5, 1, '2026-03', 9)] }),
          call({ quotas: [{ ...requests(9), subject: 'org:1' }], versions: [{ record: 'key:1', version: 6 }] }),
        ),
      ).toEqual(['refused', 'refused', 'refused', 'refused', 'refused', 'stale'])
      expect(await redis.dump(prefix)).toEqual(before)
    })
  })

  describe('parallel slots', () => {
    it('frees a slot when its call settles, and when its lease ends', async () => {
      const { store, clock } = fresh()
      const first = call({ slots: [slot(2)] })
      expect(await kinds(store, first, call({ slots: [slot(2)] }), call({ slots: [slot(2)] }))).toEqual([
        'admitted',
        'admitted',
        'refused',
      ])
      await store.settle(settlement(first.callId, { slots: ['key:1'] }))
      expect(await kinds(store, call({ slots: [slot(2)] }), call({ slots: [slot(2)] }))).toEqual([
        'admitted',
        'refused',
      ])
      clock.advance(29_999)
      expect(await kinds(store, call({ slots: [slot(2)] }))).toEqual(['refused'])
      clock.advance(1)
      expect(await kinds(store, call({ slots: [slot(2)] }))).toEqual(['admitted'])
    })

    it('gives a call that asks again no second slot and no second hold', async () => {
      const { store } = fresh()
      const again = call({ slots: [slot(2)], budgets: [budget(10, 5)] })
      expect(await kinds(store, again, again, again)).toEqual(['admitted', 'admitted', 'admitted'])
      const other = call({ slots: [slot(2)], budgets: [budget(10, 5)] })
      expect(await kinds(store, other, again)).toEqual(['admitted', 'admitted'])
      expect(await kinds(store, call({ slots: [slot(2)] }), call({ budgets: [budget(10, 1)] }))).toEqual([
        'refused',
        'refused',
      ])
    })

    it('keeps what is renewed, and does not revive what has ended', async () => {
      const { store, clock } = fresh()
      const long = call({ slots: [slot(1)], budgets: [budget(5, 5)], candidates: only })
      await admitted(store, long)
      const lease = {
        callId: long.callId,
        attemptIds: [{ attemptId: long.attemptId, deployment: 'east' }],
        slots: ['key:1'],
        budgets: [{ subject: 'team:1', holdNano: 5 }],
        leaseSeconds: 30,
      }
      clock.advance(20_000)
      await store.renew(lease)
      clock.advance(20_000)
      expect(await kinds(store, call({ slots: [slot(1)] }), call({ budgets: [budget(5, 1)] }))).toEqual([
        'refused',
        'refused',
      ])
      expect((await store.signals(['east']))[0]?.active).toBe(1)
      clock.advance(10_000)
      await store.renew(lease)
      expect((await store.signals(['east']))[0]?.active).toBe(0)
      expect(await kinds(store, call({ slots: [slot(1)] }), call({ budgets: [budget(5, 5)] }))).toEqual([
        'admitted',
        'admitted',
      ])
    })

    it('can be looked at, and are as they were', async () => {
      const { store, clock } = fresh()
      const perDay = { ...requests(9), window: 'day' } as const
      const limits = { quotas: [requests(5), perDay, tokens(9)], slots: ['key:1'], budgets: ['team:1', 'team:none'] }
      const nothing = await store.standing(limits)
      expect(nothing).toEqual({
        now: EVENING,
        quotas: { used: [0, 0, 0], resetsAt: [EVENING + MINUTE, Date.UTC(2026, 1, 11), EVENING + MINUTE] },
        taken: [0],
        budgets: [undefined, undefined],
      })
      expect(await store.standing({ quotas: [], slots: [], budgets: [] })).toMatchObject({ taken: [], budgets: [] })
      const running = call({
        quotas: limits.quotas,
        tokens: 3,
        slots: [slot(2)],
        budgets: [budget(100, 40, '2026-02', 7)],
      })
      await admitted(store, running)
      const begun = {
        now: EVENING,
        quotas: { ...nothing.quotas, used: [1, 1, 3] },
        taken: [1],
        budgets: [{ period: '2026-02', spentNano: 7, heldNano: 40 }, undefined],
      }
      expect(await store.standing(limits)).toEqual(begun)
      expect(await store.standing(limits)).toEqual(begun)
      const spent = { subject: 'team:1', period: '2026-02', holdNano: 40, spentNano: 11 }
      await store.settle(settlement(running.callId, { slots: ['key:1'], budgets: [spent] }))
      clock.advance(MINUTE)
      expect(await store.standing(limits)).toMatchObject({
        quotas: { used: [0, 1, 0] },
        taken: [0],
        budgets: [{ spentNano: 18, heldNano: 0 }, undefined],
      })
      await admitted(store, call({ slots: [slot(2)], budgets: [budget(100, 40)] }))
      clock.advance(30_000)
      // The lease has ended.
      expect(await store.standing(limits)).toMatchObject({ taken: [0], budgets: [{ heldNano: 0 }, undefined] })
    })
  })
}
