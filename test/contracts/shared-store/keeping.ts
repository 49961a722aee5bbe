import { describe, expect, it } from 'vitest'
import { budgetKey, type Key } from '../../../src/stores/kv/keys.ts'
import type { RawRedis } from '../../support/raw-redis.ts'
import { admitted, budget, call, ended, kinds, MINUTE, only, requests, slot, type World } from './world.ts'

/** Versions and values, and what is left of them. */
export function keepingContract({ fresh, freshWithOwnClock, raw }: World): void {
  describe('versions', () => {
    it('names every stale record and every unknown budget together', async () => {
      const { store } = fresh()
      const records = [
        { record: 'key:1', version: 4 },
        { record: 'org:1', version: 10 },
      ]
      expect(await store.publish({ records, removed: [] })).toBe(true)
      const versions = [
        { record: 'org:1', version: 9 },
        { record: 'team:1', version: 1 },
        { record: 'key:1', version: 0 },
      ]
      const unknown = budget(9, 1, '2026-02', 'unseeded')
      const budgets = [unknown, { ...unknown, subject: 'key:1' }, { ...unknown, subject: 'user:1', seedNano: 0 }]
      expect(await store.admit(call({ versions, budgets, quotas: [requests(0)] }))).toMatchObject({
        kind: 'stale',
        records: ['org:1', 'key:1'],
        budgets: ['team:1', 'key:1'],
      })
    })

    it('takes a version that is only remembered for stale where it knows none, and one that was just read for true', async () => {
      const { store } = fresh()
      const at = (version: number, remembered: boolean) =>
        call({ versions: [{ record: 'key:1', version, remembered }] })
      const stale = { kind: 'stale', records: ['key:1'], budgets: [] }
      expect(await store.admit(at(3, true))).toMatchObject(stale)
      expect(await kinds(store, at(0, true), at(3, false), at(3, true), at(4, true))).toEqual(Array(4).fill('admitted'))
      expect(await store.admit(at(3, true))).toMatchObject(stale)
    })

    it('learns newer versions from those who read them, never goes back', async () => {
      const { store } = fresh()
      const at = (version: number) => call({ versions: [{ record: 'key:1', version }] })
      expect(await kinds(store, at(0), at(9), at(8), at(10), at(9))).toEqual([
        'admitted',
        'admitted',
        'stale',
        'admitted',
        'stale',
      ])
      await store.publish({ records: [{ record: 'key:1', version: 3 }], removed: [] })
      expect(await kinds(store, at(9), at(10))).toEqual(['stale', 'admitted'])
      await store.publish({ records: [{ record: 'key:1', version: 11 }], removed: [] })
      expect(await kinds(store, at(10), at(11))).toEqual(['stale', 'admitted'])
    })

    it('forgets what a change makes untrue, values and money', async () => {
      const { store } = fresh()
      const [gone, kept] = ['state:1' as Key, 'state:2' as Key]
      for (const key of [gone, kept]) await store.put(key, 'x', 60)
      expect(await kinds(store, call({ budgets: [budget(9, 1)] }), call({ budgets: [budget(9, 1)] }))).toEqual([
        'admitted',
        'admitted',
      ])
      const records = [{ record: 'key:1', version: 2 }]
      expect(await store.publish({ records, removed: [gone, budgetKey('team:1')] })).toBe(true)
      expect([await store.get(gone), await store.get(kept)]).toEqual([undefined, 'x'])
      const unseeded = call({ budgets: [budget(9, 1, '2026-02', 'unseeded')] })
      expect(await store.admit(unseeded)).toMatchObject({ kind: 'stale', records: [], budgets: ['team:1'] })
      expect(await kinds(store, call({ versions: [{ record: 'key:1', version: 1 }] }))).toEqual(['stale'])
    })
  })

  describe('values', () => {
    const state = 'state:1' as Key
    const text = '{"quoted":"\\"é☃𝄞","null":null,"number":12345678901234567890}'

    it('come back as they were, letter by letter', async () => {
      const { store } = fresh()
      for (const value of [text, '', 'null', '007', '1e3', 'OK', 'a\nb\0c']) {
        await store.put(state, value, 60)
        expect(await store.get(state)).toBe(value)
      }
      await store.remove(state)
      expect(await store.get(state)).toBeUndefined()
      await store.remove()
    })

    it('have one winner of putNew and of take', async () => {
      const { store, open } = fresh()
      const other = open()
      const put = await Promise.all(
        Array.from({ length: 10 }, (_, at) => (at % 2 ? store : other).putNew(state, `${at}`, 60)),
      )
      expect(put.filter(Boolean)).toHaveLength(1)
      expect(await store.get(state)).toBe(`${put.indexOf(true)}`)
      const taken = await Promise.all(Array.from({ length: 10 }, (_, at) => (at % 2 ? store : other).take(state)))
      expect(taken.filter((value) => value !== undefined)).toEqual([`${put.indexOf(true)}`])
    })

    it('end with their time', async () => {
      const store = freshWithOwnClock()
      await store.put(state, text, 0.2)
      expect(await store.putNew(state, 'other', 60)).toBe(false)
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect(await store.get(state)).toBeUndefined()
      expect(await store.putNew(state, 'other', 60)).toBe(true)
    })
  })

  it("goes by the store's own clock", async () => {
    const store = freshWithOwnClock()
    const { now, quotas } = await admitted(store, call({ quotas: [requests(5)] }))
    expect(Math.abs(now - Date.now())).toBeLessThan(5000)
    expect(quotas.resetsAt).toEqual([now + MINUTE])
    await store.ping(1000)
  })

  it.runIf(raw)('carries on when the server has lost its scripts', async () => {
    const { store } = fresh()
    await admitted(store, call({ slots: [slot(2)] }))
    await (raw as RawRedis).command('SCRIPT', 'FLUSH')
    expect(await kinds(store, call({ slots: [slot(2)] }), call({ slots: [slot(2)] }))).toEqual(['admitted', 'refused'])
  })

  it.runIf(raw)('writes nothing that stays for ever but the counters', async () => {
    const { store, prefix } = fresh()
    const full = call({
      versions: [
        { record: 'key:1', version: 1 },
        { record: 'nobody', version: 0 },
      ],
      quotas: [requests(5)],
      slots: [slot(5)],
      budgets: [budget(50, 5)],
      candidates: only,
    })
    await admitted(store, full)
    await store.settle({
      ...ended(call({ candidates: only })),
      counters: { requests: 1 },
      entries: [{ log: 'fallbacks', text: 'x', keep: 5 }],
    })
    await store.put('state:1' as Key, 'x', 60)
    const dump = await (raw as RawRedis).dump(prefix)
    expect(Object.keys(dump).length).toBe(11)
    const lasting = Object.entries(dump).filter(([, { endsAt }]) => Number(endsAt) < 0)
    expect(lasting.map(([key]) => key)).toEqual([`${prefix}gateway:counters:2`])
  })

  it.runIf(raw)('tidies up after calls that never settled', async () => {
    const { store, clock, prefix } = fresh()
    const redis = raw as RawRedis
    for (let at = 0; at < 5; at++) {
      await admitted(store, call({ slots: [slot(9)], budgets: [budget(50, 5)], candidates: only }))
      clock.advance(31_000)
    }
    for (const key of ['slots:key:1', 'holds:team:1', 'active:east']) {
      expect(await redis.command('ZCARD', `${prefix}gateway:${key}`), key).toBe(1)
    }
  })

  it.runIf(raw)('gives every key a longer life in time, while calls overlap without end', async () => {
    const { store, clock, prefix } = fresh()
    const redis = raw as RawRedis
    const keys = ['slots:key:1', 'holds:team:1', 'budget:team:1', 'active:east', 'deployment:east']
    const lives = () =>
      Promise.all(keys.map((key) => redis.command('PTTL', `${prefix}gateway:${key}`) as Promise<number>))
    const one = () =>
      admitted(store, call({ slots: [slot(9)], budgets: [budget(50, 5)], candidates: only, leaseSeconds: 900 }))
    await one()
    const first = await lives()
    for (const [minutes, renewed] of [
      [7, ['slots:key:1', 'holds:team:1', 'active:east', 'deployment:east']],
      [5 * 24 * 60, keys],
    ] as const) {
      for (const key of keys) await redis.command('PEXPIRE', `${prefix}gateway:${key}`, 30_000)
      clock.advance(minutes * MINUTE)
      await one()
      const now = await lives()
      keys.forEach((key, at) => {
        const least = (renewed as readonly string[]).includes(key) ? (first[at] as number) - 5000 : 20_000
        expect(now[at], `${key} after ${minutes} minutes`).toBeGreaterThan(least)
      })
    }
  })

  it.runIf(raw)('neither pins nor forgets holds when the server evicts half of a budget', async () => {
    const { store, prefix } = fresh()
    const redis = raw as RawRedis
    await admitted(store, call({ budgets: [budget(10, 9)] }))
    await redis.command('DEL', `${prefix}gateway:holds:team:1`)
    expect(await kinds(store, call({ budgets: [budget(10, 9)] }))).toEqual(['admitted'])
    await redis.command('DEL', `${prefix}gateway:budget:team:1`)
    expect(await kinds(store, call({ budgets: [budget(10, 2)] }), call({ budgets: [budget(10, 1)] }))).toEqual([
      'refused',
      'admitted',
    ])
  })
}
