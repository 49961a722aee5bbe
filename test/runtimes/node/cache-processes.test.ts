import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { configuration, deployment } from '../../support/configuration.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'
import { answer, slowHeaders } from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import { type GatewayProcess, type Place, place } from './gateway-process.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const postgresUrl = inject('postgresUrl')
const redisUrl = inject('redisUrl')
const model = `cache-processes-${process.pid}`

describe.skipIf(!postgresUrl || !redisUrl)('identical calls to two processes over one Redis', () => {
  const places: Place[] = []
  let one: GatewayProcess
  let other: GatewayProcess

  beforeAll(async () => {
    const yaml = configuration({
      general_settings: { cache_enabled: true },
      model_list: [deployment(upstream.url, 'group', model)],
    })
    const env = {
      DATABASE_URL: await preparedDatabase(postgresUrl),
      REDIS_URL: redisUrl,
      GATEWAY_SALT_KEY: 'salt-4f0d1b7a93c5e2',
    }
    const start = async () => {
      const here = await place()
      places.push(here)
      return here.start({ yaml, env })
    }
    ;[one, other] = await Promise.all([start(), start()])
    await Promise.all([one.base(), other.base()])
  }, 60_000)
  afterAll(() => Promise.all(places.map((here) => here.clear())))

  const ask = async (gateway: GatewayProcess, body: object) => {
    const response = await gateway.chat({ model: 'group', ...body })
    return { status: response.status, cache: response.headers.get('x-gateway-cache'), text: await response.text() }
  }
  const asked = async () => (await upstream.calls(model)).length

  it.each([false, true])('ask once, a hundred at once (streamed: %s)', async (stream) => {
    await upstream.script(model, [answer({ text: 'Größe ☃' }, slowHeaders({ ms: 500 }))])
    const before = await asked()
    const got = await Promise.all(
      Array.from({ length: 100 }, (_, at) => ask(at % 2 ? one : other, { stream, seed: 1 })),
    )
    expect(await asked()).toBe(before + 1)
    expect(got.map(({ status }) => status)).toEqual(Array(100).fill(200))
    expect(new Set(got.map(({ text }) => text)).size).toBe(1)
    expect(got.filter(({ cache }) => cache === 'hit')).toHaveLength(99)
  })

  it('go on when the process of the first is killed, as soon as its lease ends', async () => {
    await upstream.script(model, [
      answer({ text: 'never' }, slowHeaders({ ms: 60_000 })),
      answer({ text: 'ok' }, slowHeaders({ ms: 100 })),
    ])
    const before = await asked()
    const lost = ask(one, { seed: 2 }).catch(() => 'lost')
    await upstream.until(model, (calls) => calls.length === before + 1)
    const followers = Array.from({ length: 20 }, () => ask(other, { seed: 2 }))
    // Longer than a lease: it is renewed.
    await new Promise((resolve) => setTimeout(resolve, 12_000))
    expect(await asked()).toBe(before + 1)
    const killedAt = performance.now()
    one.kill('SIGKILL')
    expect(await lost).toBe('lost')
    const got = await Promise.all(followers)
    expect(performance.now() - killedAt).toBeLessThan(14_000)
    expect(got.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(await asked()).toBe(before + 2)
  }, 60_000)
})
