import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type RedisOverHttp, startRedisOverHttp } from '../../../src/runtimes/local/redis-over-http.node.ts'
import { type GatewayProcess, type Place, place } from '../../runtimes/node/gateway-process.ts'
import { configuration, echo } from '../../support/configuration.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { type DelayedLine, startDelayedLine, startWeatherProxy, type WeatherProxy } from '../../support/store-outage.ts'
import { as, pairExists, SALT_KEY, statusOf } from './pair.ts'

const TOKEN = 'slow-token'
const [CALLS, LIMIT] = [240, 50]

describe.skipIf(!pairExists())('a shared store that is slow, and there', () => {
  let redis: RedisServer
  let http: RedisOverHttp
  let weather: WeatherProxy
  let line: DelayedLine
  const places: Place[] = []
  let gateways: GatewayProcess[] = []

  beforeAll(async () => {
    redis = (await startRedis()) as RedisServer
    const database = await preparedDatabase(inject('postgresUrl'))
    http = await startRedisOverHttp({ redisUrl: redis.url, port: 0, token: TOKEN })
    weather = await startWeatherProxy(http.url)
    line = await startDelayedLine(redis.url)
    const start = async (stores: object) => {
      const home = await place()
      places.push(home)
      const general_settings = { database_url: database, log_level: 'warn', ...stores }
      const yaml = configuration({ general_settings, model_list: [echo('echo', 'echo-1')] })
      const gateway = await home.start({ yaml, env: { GATEWAY_SALT_KEY: SALT_KEY } })
      await gateway.greeted()
      return gateway
    }
    gateways = await Promise.all([
      start({ redis_url: line.url }),
      start({ redis_url: weather.url, redis_token: TOKEN }),
    ])
  })
  afterAll(async () => {
    await Promise.all(places.map((home) => home.clear()))
    await weather?.close()
    await line?.close()
    await http?.close()
    await redis?.stop()
  })

  function slow(delayMs: () => number): void {
    weather.weather = { delayMs }
    line.delayMs = delayMs
  }
  const of = (at: number) => gateways[at % 2] as GatewayProcess
  const chat = (gateway: GatewayProcess, key: string) =>
    statusOf(gateway.chat({ model: 'echo', messages: [{ role: 'user', content: 'Hello' }] }, { headers: as(key) }))
  /** How often one of them has taken the store for away. */
  const outages = () =>
    gateways.map((gateway) => gateway.logged('store.degraded').filter(({ state }) => state === 'degraded').length)

  it.each([
    ['350 ms', () => 350],
    ['600 ms', () => 600],
    ['between 50 and 600 ms', () => 50 + 550 * Math.random()],
  ])(
    `(%s) lets exactly ${LIMIT} of ${CALLS} calls of two processes through, at once and one after the other`,
    async (_, delayMs) => {
      slow(() => 0)
      const init = { headers: { 'content-type': 'application/json' } }
      const made = await of(0).fetch('/ui/api/keys', {
        method: 'POST',
        body: JSON.stringify({ rpd_limit: LIMIT }),
        ...init,
      })
      const { key } = (await made.json()) as { key: string }
      const before = outages()
      slow(delayMs)
      const statuses: number[] = []
      for (let at = 0; at < 4; at++) statuses.push(await chat(of(at), key))
      statuses.push(...(await Promise.all(Array.from({ length: CALLS - 4 }, (_, at) => chat(of(at), key)))))
      expect(statuses.filter((status) => status === 200)).toHaveLength(LIMIT)
      expect(statuses.filter((status) => status === 429)).toHaveLength(CALLS - LIMIT)
      expect(outages()).toEqual(before)
    },
    60_000,
  )
})
