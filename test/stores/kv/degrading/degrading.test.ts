import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@redis/client'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { GatewayError } from '../../../../src/lib/errors.ts'
import { jsonLog } from '../../../../src/lib/log.ts'
import { startRedisOverHttp } from '../../../../src/runtimes/local/redis-over-http.node.ts'
import { DEADLINES } from '../../../../src/stores/kv/degrading/guarded.ts'
import { type DegradingStore, degrading } from '../../../../src/stores/kv/degrading.ts'
import { inProcessStore } from '../../../../src/stores/kv/in-process.ts'
import { answerKey, type Key, leadKey } from '../../../../src/stores/kv/keys.ts'
import { redisTcpStore } from '../../../../src/stores/kv/redis-tcp.node.ts'
import type { Admission, Settlement, SharedStore } from '../../../../src/stores/kv/shared-store.ts'
import { upstashStore } from '../../../../src/stores/kv/upstash.ts'
import { type RedisServer, startRedis } from '../../../support/redis.ts'
import { mostUnpaid, startWeatherProxy, type WeatherProxy } from '../../../support/store-outage.ts'

/** What a machine adds that stands still. */
const NOISE_MS = 5000
/** Within which a store is used again. */
const BACK_MS = 3000 + NOISE_MS
const TOKEN = 'canary-token'

let calls = 0
function call(fields: Partial<Admission> = {}): Admission {
  calls += 1
  const empty = { versions: [], quotas: [], tokens: 1, slots: [], budgets: [], candidates: [], leaseSeconds: 30 }
  return { callId: `call-${calls}`, attemptId: `attempt-${calls}`, ...empty, ...fields }
}
const settlement = (callId: string, fields: Partial<Settlement> = {}): Settlement => ({
  callId,
  slots: [],
  budgets: [],
  outcomes: [],
  counters: {},
  entries: [],
  ...fields,
})
const slots = [{ scope: 'key_parallel_requests', subject: 'key:1', limit: 1 }]
const daily = (limit: number) => [
  { scope: 'key_rpd', subject: 'key:1', unit: 'requests', window: 'day', limit } as const,
]
const budget = (limitNano: number) => [
  { scope: 'team_budget', subject: 'team:1', limitNano, holdNano: 0, period: '2026-02', seedNano: 0 },
]

describe.skipIf(!inject('redisUrl'))('a shared store that may go away', () => {
  let redis: RedisServer
  let proxy: WeatherProxy
  let http: { url: string; close(): Promise<void> }
  const opened: SharedStore[] = []
  let lines: { time: string; level: string; event: string; trouble?: string }[] = []
  const log = jsonLog('debug', (line) => lines.push(JSON.parse(line)))
  let prefixes = 0

  beforeAll(async () => {
    redis = (await startRedis()) as RedisServer
    http = await startRedisOverHttp({ redisUrl: redis.url, port: 0, token: TOKEN })
    proxy = await startWeatherProxy(http.url)
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()))
    lines = []
    proxy.weather = 'fair'
  })
  afterAll(async () => {
    await proxy.close()
    await http.close()
    await redis.stop()
  })

  const prefix = () => {
    prefixes += 1
    return `degrading:${prefixes}:`
  }

  function stand(primary: SharedStore, mode: 'fail_open' | 'fail_closed' = 'fail_open'): DegradingStore {
    const local = () => inProcessStore({ now: Date.now })
    const store = degrading(primary, { local, mode, now: Date.now, log, advice: (word) => `what to do about ${word}` })
    opened.push(store)
    return store
  }
  const overHttp = (mode?: 'fail_open' | 'fail_closed', within = prefix()) =>
    stand(upstashStore({ url: proxy.url, token: TOKEN, prefix: within }), mode)
  const overTcp = (url = redis.url, mode?: 'fail_open' | 'fail_closed') =>
    stand(redisTcpStore({ url, prefix: prefix() }), mode)

  async function timed<T>(run: () => Promise<T>): Promise<number> {
    const startedAt = performance.now()
    await run()
    return performance.now() - startedAt
  }

  /** Calls one after the other; how long each took. */
  async function admitMany(store: SharedStore, count: number): Promise<number[]> {
    const took: number[] = []
    for (let at = 0; at < count; at++) took.push(await timed(async () => store.admit(call())))
    return took
  }

  /** Traffic until the store is used again; how long that took. */
  async function recovery(store: DegradingStore): Promise<number> {
    const startedAt = performance.now()
    while (store.state() === 'degraded') {
      if (performance.now() - startedAt > 15_000) throw new Error('did not recover')
      await store.admit(call()).catch(() => {})
      await sleep(20)
    }
    return performance.now() - startedAt
  }

  async function degrade(store: DegradingStore): Promise<void> {
    for (let at = 0; at < 3; at++) await store.admit(call()).catch(() => {})
    expect(store.state()).toBe('degraded')
  }

  function expectFewPaid(took: readonly number[]): void {
    // The first waits for a store of which nothing bad is known; the next two doubt.
    expect(took.slice(0, 3).reduce((sum, ms) => sum + ms, 0)).toBeLessThan(
      DEADLINES.patienceMs + 2 * DEADLINES.doubtMs + NOISE_MS,
    )
    expect(mostUnpaid(took.slice(3)), String(took)).toBe(true)
  }

  it('passes everything on while the store is well', async () => {
    const store = overTcp()
    expect((await store.admit(call({ slots }))).kind).toBe('admitted')
    expect((await store.admit(call({ slots }))).kind).toBe('refused')
    expect(store.state()).toBe('primary')
    expect(lines).toEqual([])
  })

  it('survives a store that is killed, holds the limits alone, and is back within 3 s', async () => {
    const mortal = (await startRedis()) as RedisServer
    const store = overTcp(mortal.url)
    const started = call({ slots })
    expect((await store.admit(started)).kind).toBe('admitted')
    await mortal.stop()
    expectFewPaid(await admitMany(store, 50))
    expect(store.state()).toBe('degraded')
    const kinds = []
    for (let at = 0; at < 5; at++) kinds.push((await store.admit(call({ quotas: daily(2) }))).kind)
    expect(kinds).toEqual(['admitted', 'admitted', 'refused', 'refused', 'refused'])
    await store.settle(settlement(started.callId, { slots: ['key:1'] }))

    const reborn = (await startRedis({ port: mortal.port })) as RedisServer
    try {
      expect(await recovery(store)).toBeLessThan(BACK_MS)
      // The stand-in's counters are dropped.
      expect((await store.admit(call({ quotas: daily(1) }))).kind).toBe('admitted')
    } finally {
      await reborn.stop()
    }
  })

  it('survives a store that hangs, and is back within 3 s of its waking', async () => {
    const store = overTcp()
    await store.admit(call())
    process.kill(redis.pid, 'SIGSTOP')
    try {
      expectFewPaid(await admitMany(store, 60))
      expect(store.state()).toBe('degraded')
      // Longer than a connection may owe an answer: it is replaced meanwhile.
      const until = Date.now() + 2600
      const took: number[] = []
      while (Date.now() < until) {
        took.push(...(await admitMany(store, 1)))
        await sleep(50)
      }
      expect(mostUnpaid(took), String(took)).toBe(true)
    } finally {
      process.kill(redis.pid, 'SIGCONT')
    }
    expect(await recovery(store)).toBeLessThan(BACK_MS)
    expect((await store.admit(call({ slots }))).kind).toBe('admitted')
  })

  it('pays the deadline of a slow store for the first calls only, the settling of calls included', async () => {
    const store = overHttp()
    await store.admit(call())
    proxy.weather = 'slow'
    expectFewPaid(await admitMany(store, 200))
    const settled: number[] = []
    for (let at = 0; at < 10; at++) settled.push(await timed(() => store.settle(settlement(`slow-${at}`))))
    expect(mostUnpaid(settled), String(settled)).toBe(true)
    expect(proxy.requests).toBeLessThanOrEqual(4)
    proxy.weather = 'fair'
    expect(await recovery(store)).toBeLessThan(BACK_MS)
  })

  it('asks a store that is away once a second, beside a call that does not wait', async () => {
    const store = overHttp()
    await store.admit(call())
    proxy.weather = 'slow'
    await degrade(store)
    proxy.weather = 'slow'
    const began = performance.now()
    const took: number[] = []
    while (performance.now() - began < 2500) {
      took.push(...(await admitMany(store, 1)))
      await sleep(10)
    }
    expect(mostUnpaid(took), String(took)).toBe(true)
    expect(proxy.requests).toBeGreaterThanOrEqual(1)
    expect(proxy.requests).toBeLessThanOrEqual((performance.now() - began) / 1000 + 1)
    const degraded = lines.filter(({ event }) => event === 'store.degraded')
    expect(degraded.length).toBeGreaterThanOrEqual(2)
    expect(degraded.length).toBeLessThanOrEqual((performance.now() - began) / 1000 + 3)
  })

  it('forgives a single accident, and reopens at the first failure after a recovery', async () => {
    const store = overHttp()
    await store.admit(call())
    proxy.weather = 'lost'
    await admitMany(store, 2)
    proxy.weather = 'fair'
    await admitMany(store, 1)
    proxy.weather = 'lost'
    await admitMany(store, 2)
    expect(store.state()).toBe('primary')
    await admitMany(store, 1)
    expect(store.state()).toBe('degraded')
    proxy.weather = 'fair'
    await recovery(store)
    proxy.weather = 'lost'
    await admitMany(store, 1)
    expect(store.state()).toBe('degraded')
  })

  it.each(['garbage', 'nonsense', 'lost'] as const)('takes %s for no answer', async (weather) => {
    const store = overHttp()
    await store.admit(call())
    proxy.weather = weather
    for (let at = 0; at < 5; at++)
      expect((await store.admit(call({ quotas: daily(2) }))).kind).toBe(at < 2 ? 'admitted' : 'refused')
    expect(store.state()).toBe('degraded')
    expect(lines[0]).toMatchObject({
      level: 'warn',
      event: 'store.degraded',
      trouble: weather === 'lost' ? 'unreachable' : 'nonsense',
    })
    proxy.weather = 'fair'
    expect(await recovery(store)).toBeLessThan(BACK_MS)
    expect(lines.at(-1)).toMatchObject({ level: 'info', event: 'store.recovered' })
  })

  it('is loud about a store that refuses the script, and does not come back before it runs it', async () => {
    const strict = (await startRedis()) as RedisServer
    const admin = createClient({ url: strict.url })
    try {
      await admin.connect()
      await admin.sendCommand(['ACL', 'SETUSER', 'default', '-@scripting'])
      const store = overTcp(strict.url)
      await store.ping(1000)
      expect((await store.admit(call())).kind).toBe('admitted')
      expect(store.state()).toBe('degraded')
      await sleep(1100)
      await admitMany(store, 3)
      await sleep(300)
      expect(store.state()).toBe('degraded')
      await admitMany(store, 3)
      const degraded = lines.filter(({ event }) => event === 'store.degraded')
      expect(degraded.length).toBeGreaterThanOrEqual(2)
      const advice = 'what to do about NOPERM'
      for (const line of degraded)
        expect(line).toMatchObject({
          level: 'error',
          trouble: 'refused',
          reason: expect.stringContaining('NOPERM'),
          advice,
        })
      await admin.sendCommand(['ACL', 'SETUSER', 'default', '+@scripting'])
      expect(await recovery(store)).toBeLessThan(BACK_MS)
    } finally {
      admin.destroy()
      await strict.stop()
    }
  })

  it('refuses every call when it is told to fail closed, and nothing of a call that runs already', async () => {
    const store = overHttp('fail_closed')
    const running = call({ slots })
    await store.admit(running)
    proxy.weather = 'garbage'
    for (let at = 0; at < 5; at++) {
      const error = await store.admit(call()).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(GatewayError)
      expect(error).toMatchObject({ failure: 'store_unavailable', status: 503 })
    }
    await expect(store.get('state' as Key)).rejects.toMatchObject({ failure: 'store_unavailable' })
    const candidate = { deployment: 'east', limits: {} }
    expect(await store.startAttempt({ attemptId: 'second', candidate, leaseSeconds: 30 })).toBeDefined()
    await store.renew({ callId: running.callId, attemptIds: [], slots: ['key:1'], budgets: [], leaseSeconds: 30 })
    await store.publish({ records: [{ record: 'key:1', version: 2 }], removed: [] })
    await store.settle(settlement(running.callId, { slots: ['key:1'] }))
    proxy.weather = 'fair'
    expect(await recovery(store)).toBeLessThan(BACK_MS)
    await store.settle(settlement('another'))
    expect((await store.admit(call({ slots }))).kind).toBe('admitted')
  })

  it('gives back what the store has taken for a call that was refused because its answer was not heard', async () => {
    const within = prefix()
    const store = overHttp('fail_closed', within)
    const other = upstashStore({ url: http.url, token: TOKEN, prefix: within })
    await store.admit(call())
    proxy.weather = 'unheard'
    const held = budget(100).map((one) => ({ ...one, holdNano: 100 }))
    const asked = call({ slots, budgets: held })
    const refused = await store.admit(asked).catch((error: unknown) => error)
    expect(refused).toMatchObject({ failure: 'store_unavailable' })
    proxy.weather = 'fair'
    await sleep(200)
    const next = call({ slots, budgets: held })
    const settled = ({ callId }: Admission, spentNano: number) =>
      settlement(callId, {
        slots: ['key:1'],
        budgets: held.map(({ subject, period }) => ({ subject, period, holdNano: 100, spentNano })),
      })
    expect((await other.admit(next)).kind).toBe('admitted')
    await other.settle(settled(next, 0))
    // The same call, asked for again, is paid.
    expect((await other.admit(asked)).kind).toBe('admitted')
    await other.settle(settled(asked, 100))
    expect((await other.admit(call({ slots, budgets: held }))).kind).toBe('refused')
    // Where nobody limits how many run at once, too.
    proxy.weather = 'unheard'
    const candidates = [{ deployment: 'east', limits: {} }]
    await store
      .admit(call({ budgets: budget(100).map((one) => ({ ...one, subject: 'team:2', holdNano: 100 })), candidates }))
      .catch(() => {})
    proxy.weather = 'fair'
    await sleep(200)
    expect(
      (await other.admit(call({ budgets: budget(100).map((one) => ({ ...one, subject: 'team:2', holdNano: 100 })) })))
        .kind,
    ).toBe('admitted')
    expect(await other.signals(['east'])).toMatchObject([{ active: 0, used: {} }])
  })

  it('frees locally what was taken locally', async () => {
    const store = overHttp()
    await store.admit(call())
    proxy.weather = 'lost'
    await degrade(store)
    const first = call({ slots })
    expect((await store.admit(first)).kind).toBe('admitted')
    expect((await store.admit(call({ slots }))).kind).toBe('refused')
    await store.settle(settlement(first.callId, { slots: ['key:1'] }))
    expect((await store.admit(call({ slots }))).kind).toBe('admitted')
  })

  it('frees locally what one lost answer made it take locally, though the store is back when the call settles', async () => {
    const store = overHttp()
    for (let at = 0; at < 2; at++) {
      proxy.weather = 'lost'
      const one = call({ slots })
      expect((await store.admit(one)).kind).toBe('admitted')
      proxy.weather = 'fair'
      await store.settle(settlement(one.callId, { slots: ['key:1'] }))
      expect(store.state()).toBe('primary')
    }
  })

  it('gives the place back that a lost answer reserved elsewhere than this process did', async () => {
    const within = prefix()
    const other = upstashStore({ url: http.url, token: TOKEN, prefix: within })
    opened.push(other)
    const store = overHttp('fail_open', within)
    const candidates = ['east', 'west'].map((deployment) => ({ deployment, limits: {} }))
    await other.admit(call({ candidates }))
    proxy.weather = 'unheard'
    const one = call({ slots, candidates, preference: { by: 'active', unit: 'tokens' } })
    const admitted = await store.admit(one)
    expect(admitted).toMatchObject({ kind: 'admitted', reserved: { deployment: 'east' } })
    expect(await other.signals(['east', 'west'])).toMatchObject([{ active: 1 }, { active: 1 }])
    proxy.weather = 'fair'
    const ended = { attemptId: one.attemptId, deployment: 'east', result: 'neutral', used: {} } as const
    const outcomes = [{ ...ended, cooldown: { allowedFails: 0, seconds: 0 } }]
    await store.settle(settlement(one.callId, { slots: ['key:1'], outcomes }))
    const signals = () => other.signals(['east', 'west'])
    await expect.poll(signals).toMatchObject([{ active: 1 }, { active: 0, used: {} }])
    expect((await store.admit(call({ slots }))).kind).toBe('admitted')
  })

  it('counts anew in each outage', async () => {
    const store = overHttp()
    for (let outage = 0; outage < 2; outage++) {
      proxy.weather = 'lost'
      await degrade(store)
      expect((await store.admit(call({ quotas: daily(1) }))).kind).toBe('admitted')
      expect((await store.admit(call({ quotas: daily(1) }))).kind).toBe('refused')
      proxy.weather = 'fair'
      await recovery(store)
      // Off probation.
      await store.admit(call())
    }
  })

  it('gives up a store that settles in time but admits too late', async () => {
    const store = overHttp()
    await store.admit(call())
    proxy.weather = 'sluggish'
    // Three are enough, where none of its answers is in time because the machine stood still.
    for (let at = 0; at < 6 && store.state() === 'primary'; at++) {
      await store.admit(call())
      await store.settle(settlement(`sluggish-${at}`))
    }
    expect(store.state()).toBe('degraded')
  })

  it.each([350, 600, 900])(
    'waits %i ms for a store that is merely slow, call after call, and takes it for none that is away',
    async (delayMs) => {
      const store = overHttp()
      await store.admit(call())
      proxy.weather = { delayMs: () => delayMs }
      for (let at = 0; at < 4; at++) {
        expect((await store.admit(call({ quotas: daily(2) }))).kind).toBe(at < 2 ? 'admitted' : 'refused')
      }
      expect(store.state()).toBe('primary')
      expect(lines).toEqual([])
    },
  )

  it('counts a burst of calls at a store of which no two answers take the same time', async () => {
    const store = overHttp()
    await store.admit(call())
    proxy.weather = { delayMs: () => 50 + Math.random() * 850 }
    const burst = await Promise.all(Array.from({ length: 60 }, () => store.admit(call({ quotas: daily(20) }))))
    expect(burst.filter(({ kind }) => kind === 'admitted')).toHaveLength(20)
    expect(store.state()).toBe('primary')
  })

  it('comes back to a store that is slow now', async () => {
    const store = overHttp()
    await store.admit(call())
    proxy.weather = 'lost'
    await degrade(store)
    proxy.weather = { delayMs: () => 600 }
    expect(await recovery(store)).toBeLessThan(BACK_MS)
    for (let at = 0; at < 3; at++) await store.admit(call())
    expect(store.state()).toBe('primary')
  })

  it('looks within a second whether the store is back', async () => {
    const store = overHttp()
    await store.admit(call())
    proxy.weather = 'lost'
    await degrade(store)
    proxy.weather = 'fair'
    expect(await recovery(store)).toBeLessThan(1000 + NOISE_MS)
  })

  it('tells the store afterwards, once, what was spent and changed while it was away', async () => {
    const within = prefix()
    const store = overHttp('fail_open', within)
    const other = upstashStore({ url: http.url, token: TOKEN, prefix: within })
    const early = call({ budgets: budget(100) })
    const version = (number: number) => [{ record: 'key:1', version: number }]
    await store.admit(early)
    await other.admit(call({ versions: version(1) }))
    proxy.weather = 'lost'
    await degrade(store)
    const spent = [{ subject: 'team:1', period: '2026-02', holdNano: 0, spentNano: 30 }]
    const failed = {
      attemptId: 'a',
      deployment: 'east',
      result: 'failed',
      used: {},
      cooldown: { allowedFails: 0, seconds: 60 },
    } as const
    const late = call({ budgets: budget(100) })
    await store.admit(late)
    await store.settle(settlement(early.callId, { budgets: spent, counters: { requests: 1 }, outcomes: [failed] }))
    await store.settle(settlement(late.callId, { budgets: spent, counters: { requests: 1 } }))
    expect(await store.publish({ records: version(2), removed: [] })).toBe(false)
    expect(await other.counters()).toEqual({})

    proxy.weather = 'fair'
    await recovery(store)
    // A record that changed meanwhile is known before the first call is let in.
    expect(await store.admit(call({ versions: version(1) }))).toMatchObject({ kind: 'stale' })
    await store.settle(settlement('brings along'))
    await store.settle(settlement(early.callId, { budgets: spent, counters: { requests: 1 } }))
    expect(await other.counters()).toEqual({ requests: 2 })
    expect((await other.admit(call({ budgets: budget(60) }))).kind).toBe('refused')
    expect((await other.admit(call({ budgets: budget(61) }))).kind).toBe('admitted')
    // What failed then says nothing about now.
    expect((await other.signals(['east']))[0]).toMatchObject({ failures: 0, cooledUntil: 0 })
  })

  it('is back without calls, and is told all that it missed, where it is tended', async () => {
    const within = prefix()
    const store = overHttp('fail_open', within)
    const other = upstashStore({ url: http.url, token: TOKEN, prefix: within })
    proxy.weather = 'lost'
    await degrade(store)
    for (let at = 0; at < 50; at++) await store.settle(settlement(`missed-${at}`, { counters: { requests: 1 } }))
    await store.tend()
    expect(store.state()).toBe('degraded')
    proxy.weather = 'fair'
    const told = async () => {
      await store.tend()
      return [store.state(), await other.counters()]
    }
    await expect.poll(told, { timeout: BACK_MS }).toEqual(['primary', { requests: 50 }])
  })

  it('neither looks for cached answers meanwhile nor says that they are cleared', async () => {
    const store = overHttp()
    const cache = { answers: [answerKey('a')], clearings: [], maxAgeSeconds: 60, lead: leadKey('a'), leadSeconds: 10 }
    const leading = call({ cache })
    expect(await store.admit(leading)).toMatchObject({ cached: { state: 'lead' } })
    proxy.weather = 'lost'
    await degrade(store)
    const values = [{ key: answerKey('a'), text: `${Date.now()}|x`, ttlSeconds: 60 }]
    await store.settle(settlement(leading.callId, { lead: { key: leadKey('a'), unkeptSeconds: 0 }, values }))
    for (let time = 0; time < 2; time++) {
      const decided = await store.admit(call({ cache }))
      expect(decided).toMatchObject({ kind: 'admitted', unconfirmed: true })
      expect(decided).not.toHaveProperty('cached')
    }
    expect(
      await timed(() =>
        store.stamp(answerKey('a'), 60).catch((error) => expect(error.failure).toBe('store_unavailable')),
      ),
    ).toBeLessThan(NOISE_MS)
    await expect(store.stamp(answerKey('a'), 60)).rejects.toBeInstanceOf(GatewayError)
    proxy.weather = 'fair'
    await recovery(store)
    // What was lost with the outage is asked for again.
    expect(await store.admit(call({ cache }))).toMatchObject({ cached: { state: 'follow' } })
  })

  it('keeps values locally meanwhile', async () => {
    const store = overHttp()
    const key = 'state:1' as Key
    proxy.weather = 'lost'
    await store.put(key, 'one', 60)
    expect(await store.putNew(key, 'two', 60)).toBe(false)
    expect(await store.get(key)).toBe('one')
    expect(await store.take(key)).toBe('one')
    expect(await store.take(key)).toBeUndefined()
    await store.put(key, 'three', 60)
    await store.remove(key)
    expect(await store.get(key)).toBeUndefined()
    expect(await store.signals(['east'])).toHaveLength(1)
    // The counters of one process are less than those of all.
    await store.settle(settlement('counted here', { counters: { requests: 1 } }))
    expect([await store.counters(), await store.entries('fallbacks', 5)]).toEqual([undefined, []])
  })

  it('does not take a mistake of the caller for an outage', async () => {
    const store = overHttp()
    const counters = { seconds: Number.NaN }
    for (let at = 0; at < 5; at++)
      await expect(store.settle(settlement('odd', { counters }))).rejects.toThrow(RangeError)
    expect(store.state()).toBe('primary')
  })

  it('says no secret: not of the address, not of a command, not of a value', async () => {
    const wrong = stand(upstashStore({ url: http.url, token: 'canary-wrong-token' }))
    const closed = stand(redisTcpStore({ url: 'redis://canary-user:canary-password@127.0.0.1:1' }))
    const refused = stand(redisTcpStore({ url: redis.url.replace('//', '//canary-user:canary-password@') }))
    for (const store of [wrong, closed, refused]) {
      await store.admit(call({ callId: 'canary-call' }))
      await store.put('canary-key' as Key, 'canary-value', 60)
      await store.admit(call())
      expect(store.state()).toBe('degraded')
      await expect(store.ping(500)).rejects.toSatisfy(
        (error: Error) => !JSON.stringify([error.message, error.stack, error.cause]).includes('canary'),
      )
    }
    expect(lines.length).toBeGreaterThanOrEqual(3)
    expect(JSON.stringify(lines)).not.toContain('canary')
  })
})
