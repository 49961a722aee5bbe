import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type RedisOverHttp, startRedisOverHttp } from '../../../src/runtimes/local/redis-over-http.node.ts'
import { DEADLINES } from '../../../src/stores/kv/degrading/guarded.ts'
import { type GatewayProcess, type Place, place } from '../../runtimes/node/gateway-process.ts'
import { configuration, echo } from '../../support/configuration.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'
import { parsePrometheus } from '../../support/prometheus.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { mostUnpaid, startWeatherProxy, type WeatherProxy } from '../../support/store-outage.ts'
import { as, pairExists, SALT_KEY } from './pair.ts'

const TOKEN = 'outage-token'
/** How long calls wait for a store of which nothing bad is known. */
const { patienceMs: PATIENCE_MS } = DEADLINES
/** What a machine adds that stands still. */
const NOISE_MS = 5000
/** Within which a store is used again. */
const BACK_MS = 3000 + NOISE_MS

describe.skipIf(!pairExists())('a shared store that goes away', () => {
  let redis: RedisServer
  let http: RedisOverHttp
  let weather: WeatherProxy
  let database: string
  const places: Place[] = []
  const gateways = {} as Record<'tcp' | 'http' | 'closed', GatewayProcess>
  const keys = {} as Record<'free' | 'slotted' | 'daily', string>

  async function start(stores: object): Promise<GatewayProcess> {
    const home = await place()
    places.push(home)
    const general_settings = { database_url: database, ...stores }
    const yaml = configuration({ general_settings, model_list: [echo('echo', 'echo-1')] })
    const gateway = await home.start({ yaml, env: { GATEWAY_SALT_KEY: SALT_KEY } })
    await gateway.greeted()
    return gateway
  }

  beforeAll(async () => {
    redis = (await startRedis()) as RedisServer
    database = await preparedDatabase(inject('postgresUrl'))
    http = await startRedisOverHttp({ redisUrl: redis.url, port: 0, token: TOKEN })
    weather = await startWeatherProxy(http.url)
    gateways.tcp = await start({ redis_url: redis.url })
    gateways.http = await start({ redis_url: weather.url, redis_token: TOKEN })
    gateways.closed = await start({ redis_url: redis.url, degraded_mode: 'fail_closed' })
    keys.free = await newKey({})
    keys.slotted = await newKey({ max_parallel_requests: 1 })
    keys.daily = await newKey({ rpd_limit: 3 })
  })
  afterAll(async () => {
    await Promise.all(places.map((home) => home.clear()))
    await weather?.close()
    await http?.close()
    await redis?.stop()
  })

  async function newKey(fields: object): Promise<string> {
    const headers = { 'content-type': 'application/json' }
    const response = await gateways.tcp.fetch('/ui/api/keys', { method: 'POST', body: JSON.stringify(fields), headers })
    return String(((await response.json()) as { key: unknown }).key)
  }

  async function ask(gateway: GatewayProcess, key: string | undefined, path = '/v1/chat/completions') {
    const startedAt = performance.now()
    const headers = key === undefined ? {} : as(key)
    const response =
      path === '/v1/chat/completions'
        ? await gateway.chat({ model: 'echo' }, { headers })
        : await gateway.fetch(path, { headers })
    const text = await response.text()
    return { status: response.status, ms: performance.now() - startedAt, headers: response.headers, text }
  }
  async function askMany(count: number, gateway: GatewayProcess, key: string) {
    const answers = []
    for (let call = 0; call < count; call++) answers.push(await ask(gateway, key))
    return answers
  }
  const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status)

  async function degraded(gateway: GatewayProcess): Promise<unknown> {
    const page = parsePrometheus(await (await gateway.fetch('/metrics')).text())
    return page.value('gateway_store_degraded', {})
  }

  /** Traffic until the store is used again; how long that took. */
  async function recovery(gateway: GatewayProcess): Promise<number> {
    const startedAt = performance.now()
    while ((await degraded(gateway)) === 1) {
      if (performance.now() - startedAt > 15_000) throw new Error('does not recover')
      await ask(gateway, keys.free)
      await wait(20)
    }
    return performance.now() - startedAt
  }

  const troubles: [string, 'tcp' | 'http', () => Promise<void> | void, () => Promise<void> | void][] = [
    [
      'killed',
      'tcp',
      () => redis.stop(),
      async () => {
        redis = (await startRedis({ port: redis.port })) as RedisServer
      },
    ],
    ['stalled', 'tcp', () => void process.kill(redis.pid, 'SIGSTOP'), () => void process.kill(redis.pid, 'SIGCONT')],
    ...(['slow', 'garbage', 'nonsense', 'lost', 'unheard'] as const).map((kind): (typeof troubles)[number] => [
      kind,
      'http',
      () => {
        weather.weather = kind
      },
      () => {
        weather.weather = 'fair'
      },
    ]),
  ]

  it.each(troubles)(
    '%s, it costs the first calls its deadline and the rest nothing; limits hold in the process, and it is back within 3 s',
    async (_, way, begin, end) => {
      const gateway = gateways[way]
      await recovery(gateway)
      for (const key of Object.values(keys)) await ask(gateway, key)
      expect(await degraded(gateway)).toBe(0)
      await begin()
      try {
        const first = await askMany(30, gateway, keys.free)
        expect(new Set(statuses(first))).toEqual(new Set([200]))
        for (const { ms } of first) expect(ms).toBeLessThan(PATIENCE_MS + NOISE_MS)
        expect(mostUnpaid(first.slice(3).map(({ ms }) => ms))).toBe(true)

        const slotted = await askMany(10, gateway, keys.slotted)
        expect(new Set(statuses(slotted))).toEqual(new Set([200]))
        expect(mostUnpaid(slotted.map(({ ms }) => ms))).toBe(true)
        expect(statuses(await askMany(5, gateway, keys.daily))).toEqual([200, 200, 200, 429, 429])

        const ready = await ask(gateway, undefined, '/health/readiness')
        // A store that only does not say what it did answers nobody's ping, either.
        expect([ready.status, JSON.parse(ready.text).checks]).toEqual([503, { redis: false, database: true }])
        expect(ready.ms).toBeLessThan(1000 + NOISE_MS)
        expect((await ask(gateway, undefined, '/health/liveliness')).status).toBe(200)
        const health = await ask(gateway, keys.free, '/health/deployments')
        expect(JSON.parse(health.text).store).toEqual({ mode: 'degraded', degraded_mode: 'fail_open' })
        expect(await degraded(gateway)).toBe(1)
      } finally {
        await end()
      }
      expect(await recovery(gateway)).toBeLessThan(BACK_MS)
      expect((await ask(gateway, undefined, '/health/readiness')).status).toBe(200)
    },
  )

  it('is used again by a process that has no calls', async () => {
    const gateway = gateways.http
    await recovery(gateway)
    const recoveries = () => gateway.logged('store.recovered').length
    const before = recoveries()
    weather.weather = 'lost'
    try {
      await askMany(5, gateway, keys.free)
      expect(await degraded(gateway)).toBe(1)
    } finally {
      weather.weather = 'fair'
    }
    // Any request would make it look.
    await expect.poll(recoveries, { timeout: BACK_MS }).toBe(before + 1)
  })

  it.each(['tcp', 'http'] as const)('(%s) the log says so, at most once a second', async (way) => {
    const lines = () => gateways[way].logged('store.degraded').map(({ time }) => Date.parse(String(time)))
    await expect.poll(() => lines().length).toBeGreaterThan(0)
    const times = lines()
    // A line has the time of its writing, which is a little after it was decided on.
    for (const [at, time] of times.slice(1).entries()) expect(time - (times[at] as number)).toBeGreaterThan(900)
  })

  it('fail_closed refuses every model endpoint at once, to everybody, and is back within 3 s', async () => {
    const gateway = gateways.closed
    expect(await recovery(gateway)).toBeLessThan(BACK_MS)
    expect((await ask(gateway, keys.free)).status).toBe(200)
    process.kill(redis.pid, 'SIGSTOP')
    try {
      const answers = await askMany(20, gateway, keys.free)
      expect(new Set(statuses(answers))).toEqual(new Set([503]))
      expect(mostUnpaid(answers.slice(3).map(({ ms }) => ms))).toBe(true)
      const others: number[] = []
      for (const [key, path] of [
        [keys.free, '/v1/models'],
        [keys.free, '/v1/models/echo'],
        [undefined, '/v1/models'],
        [undefined, '/v1/chat/completions'],
        [`sk-${'A'.repeat(43)}`, '/v1/models'],
      ] as const) {
        const refused = await ask(gateway, key, path)
        others.push(refused.ms)
        if (key?.startsWith('sk-AAA')) continue
        expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([503, 'store_unavailable'])
        expect(refused.headers.get('retry-after')).toBe('1')
      }
      expect(mostUnpaid(others)).toBe(true)
      expect((await ask(gateway, undefined, '/health/liveliness')).status).toBe(200)
      expect(await degraded(gateway)).toBe(1)
    } finally {
      process.kill(redis.pid, 'SIGCONT')
    }
    expect(await recovery(gateway)).toBeLessThan(BACK_MS)
    expect((await ask(gateway, keys.free)).status).toBe(200)
  })
})
