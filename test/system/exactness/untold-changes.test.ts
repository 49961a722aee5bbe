import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { type RedisOverHttp, startRedisOverHttp } from '../../../src/runtimes/local/redis-over-http.node.ts'
import { type GatewayProcess, type Place, place } from '../../runtimes/node/gateway-process.ts'
import { configuration, echo } from '../../support/configuration.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { startWeatherProxy, type WeatherProxy } from '../../support/store-outage.ts'
import { type Switchable, switchable } from '../worker/support/switchable.ts'
import { as, pairExists, SALT_KEY, statusOf } from './pair.ts'

const TOKEN = 'untold-token'

interface Answered {
  readonly status: number
  readonly ms: number
  // biome-ignore lint/suspicious/noExplicitAny: fields are what is looked at.
  readonly body: any
}

describe.skipIf(!pairExists())('a change that the shared store cannot be told', () => {
  let redis: RedisServer
  let http: RedisOverHttp
  let weather: WeatherProxy
  let line: Switchable
  let database: string
  const places: Place[] = []
  /** Where changes are made: with a line of its own to the store, over HTTP and over TCP. */
  const makers = {} as Record<'http' | 'tcp', GatewayProcess>
  let other: GatewayProcess

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
    line = await switchable(redis.url)
    ;[makers.http, makers.tcp, other] = await Promise.all([
      start({ redis_url: weather.url, redis_token: TOKEN }),
      start({ redis_url: line.url }),
      start({ redis_url: redis.url }),
    ])
  })
  afterEach(clearUp)
  afterAll(async () => {
    await Promise.all(places.map((home) => home.clear()))
    await weather?.close()
    await line?.close()
    await http?.close()
    await redis?.stop()
  })

  async function clearUp(): Promise<void> {
    weather.weather = 'fair'
    weather.toLose = 0
    await line.set('open')
  }

  async function admin(by: GatewayProcess, method: string, path: string, body?: object): Promise<Answered> {
    const startedAt = performance.now()
    const init = body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}
    const response = await by.fetch(`/ui/api/${path}`, { method, ...init })
    return { status: response.status, body: await response.json(), ms: performance.now() - startedAt }
  }
  const chat = (gateway: GatewayProcess, key: string) =>
    statusOf(gateway.chat({ model: 'echo', messages: [{ role: 'user', content: 'Hello' }] }, { headers: as(key) }))

  /** A key that all processes know. */
  async function knownKey(maker: GatewayProcess): Promise<{ key: string; path: string }> {
    const { body, status } = await admin(other, 'POST', 'keys', {})
    expect(status).toBe(201)
    // Whoever was away from the store is back.
    await expect.poll(() => chat(maker, body.key)).toBe(200)
    expect(await chat(other, body.key)).toBe(200)
    return { key: body.key, path: `keys/${body.key_id}` }
  }

  const ends: [string, string, string][] = [
    ['revoked', 'POST', '/revoke'],
    ['regenerated', 'POST', '/regenerate'],
    ['removed', 'DELETE', ''],
  ]

  it.each(ends)(
    'at the first time: a %s key ends everywhere with the answer all the same',
    async (_, method, action) => {
      const { key, path } = await knownKey(makers.http)
      weather.toLose = 1
      const ended = await admin(makers.http, method, path + action)
      expect(weather.toLose).toBe(0)
      expect([ended.status, ended.body.pending]).toEqual([200, undefined])
      expect(await chat(other, key)).toBe(401)
      expect(await chat(makers.http, key)).toBe(401)
    },
  )

  it.each([600, 1500])('and that is merely slow, by %i ms, knows of it before the answer', async (delayMs) => {
    const { key, path } = await knownKey(makers.http)
    weather.weather = { delayMs: () => delayMs }
    const ended = await admin(makers.http, 'POST', `${path}/revoke`)
    expect([ended.status, ended.body.pending]).toEqual([200, undefined])
    expect(await chat(other, key)).toBe(401)
  })

  it.each(['http', 'tcp'] as const)('(%s) for minutes is told when it can be, with nobody calling', async (way) => {
    const maker = makers[way]
    const keys = []
    for (let at = 0; at < ends.length; at++) keys.push(await knownKey(maker))
    weather.weather = 'lost'
    await line.set('closed')
    for (const [index, [, method, action]] of ends.entries()) {
      const { path, key } = keys[index] as { path: string; key: string }
      const ended = await admin(maker, method, path + action)
      expect([ended.status, ended.body.pending]).toEqual([202, true])
      expect(ended.ms).toBeGreaterThan(1900)
      expect(ended.ms).toBeLessThan(10_000)
      expect(await chat(maker, key)).toBe(401)
    }
    await clearUp()
    await wait(2000)
    for (const { key } of keys) expect(await chat(other, key)).toBe(401)
  })

  const troubles: [string, 'http' | 'tcp', () => Promise<void> | void][] = [
    ...(['lost', 'slow', 'garbage', 'nonsense', 'unheard'] as const).map((kind): (typeof troubles)[number] => [
      kind,
      'http',
      () => {
        weather.weather = kind
      },
    ]),
    ['closed', 'tcp', () => line.set('closed')],
    ['stalled', 'tcp', () => line.set('stalled')],
  ]
  it.each(troubles)(
    'a store that is %s (%s) keeps nobody who made a change from going by it at once',
    async (_, way, begin) => {
      const maker = makers[way]
      const [revoked, limited] = [await knownKey(maker), await knownKey(maker)]
      await begin()
      const answers = await Promise.all([
        admin(maker, 'POST', `${revoked.path}/revoke`),
        admin(maker, 'PATCH', limited.path, { rpm_limit: 0 }),
      ])
      for (const { status, body, ms } of answers) {
        expect([status, body.pending]).toEqual([202, true])
        expect(ms).toBeLessThan(10_000)
      }
      for (let turn = 0; turn < 8; turn++) {
        expect([await chat(maker, revoked.key), await chat(maker, limited.key)]).toEqual([401, 429])
      }
      await clearUp()
      await expect.poll(() => chat(other, revoked.key)).toBe(401)
      expect(await chat(other, limited.key)).toBe(429)
      // Back at the store, and no wiser.
      expect([await chat(maker, revoked.key), await chat(maker, limited.key)]).toEqual([401, 429])
    },
  )

  it('what a budget spent is asked of the database again by everybody', async () => {
    const team = (await admin(other, 'POST', 'teams', {})).body.team_id
    const { key } = (await admin(other, 'POST', 'keys', { team_id: team })).body
    expect(await chat(makers.http, key)).toBe(200)
    weather.toLose = 2
    expect((await admin(makers.http, 'PATCH', `teams/${team}`, { max_budget: 0 })).status).toBe(200)
    expect(await chat(other, key)).toBe(429)
    weather.toLose = 2
    expect((await admin(makers.http, 'PATCH', `teams/${team}`, { max_budget: 5 })).status).toBe(200)
    expect(await chat(other, key)).toBe(200)
  })

  it('says so in the answer of every write that callers are built from', async () => {
    const maker = makers.http
    const { path } = await knownKey(maker)
    const made = async (collection: string, id: string) =>
      `${collection}/${(await admin(other, 'POST', collection, {})).body[id]}`
    const team = await made('teams', 'team_id')
    const organization = await made('organizations', 'organization_id')
    const user = await made('users', 'user_id')
    const scope = { scope_type: 'api_key', scope_id: path.slice('keys/'.length) }
    const bound = (await admin(other, 'POST', 'callable-target-bindings', { ...scope, callable_key: 'echo' })).body
    weather.weather = 'lost'
    const writes: [string, string, object?][] = [
      ...['keys', 'teams', 'organizations', 'users'].map((all): [string, string, object] => ['POST', all, {}]),
      ...[path, team, organization, user].flatMap((one): [string, string, object][] => [
        ['PATCH', one, { rpm_limit: 5 }],
        ['PUT', one, { rpm_limit: 6 }],
        ['PUT', `${one}/model-access`, { models: ['echo'] }],
      ]),
      ['POST', 'callable-target-bindings', { ...scope, callable_key: 'other' }],
      ['PUT', 'callable-target-policies', { ...scope, mode: 'restrict' }],
      ['PATCH', `callable-target-bindings/${bound.binding_id}`, { enabled: false }],
      ['POST', `${path}/regenerate`],
    ]
    const answers = await Promise.all(writes.map(([method, at, body]) => admin(maker, method, at, body)))
    expect(answers.map(({ status, body }, at) => [writes[at]?.slice(0, 2), status, body.pending])).toEqual(
      writes.map((write) => [write.slice(0, 2), 202, true]),
    )
    // A revoked key is not regenerated, so this one is not told beside them.
    const { status, body } = await admin(maker, 'POST', `${path}/revoke`)
    expect([status, body.pending]).toEqual([202, true])
    for (const one of [`callable-target-bindings/${bound.binding_id}`, path, team, organization, user]) {
      const { status, body } = await admin(maker, 'DELETE', one)
      expect([one, status, body.pending]).toEqual([one, 202, true])
    }
    // What was made is whole in its answer.
    expect(answers[0]?.body.key).toMatch(/^sk-/)
    await clearUp()
    await wait(2000)
    expect(await chat(other, answers[0]?.body.key)).toBe(200)
  })
})
