import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { adminApi } from '../../support/admin-api.ts'
import { configuration, deployment } from '../../support/configuration.ts'
import { type FullGateway, startFullGateway } from '../../support/full-gateway.node.ts'
import { chatInit } from '../../support/gateway.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'
import { seededRandom } from '../../support/random.ts'
import { answer, slowHeaders } from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'

const postgresUrl = inject('postgresUrl')
const redisUrl = inject('redisUrl')
const upstream = upstreamClient(inject('upstreamUrl'))
const messages = [{ role: 'user', content: 'Hello' }]
const PRICES = { input_cost_per_token: 0.001, output_cost_per_token: 0.001 }
const PAIRS = 1000

describe.skipIf(!postgresUrl || !redisUrl)('the answer cache of two gateways over one store', () => {
  let one: FullGateway
  let other: FullGateway
  const ask = adminApi(() => one)
  const slow = `tenants-slow-${process.pid}`

  beforeAll(async () => {
    const yaml = configuration({
      general_settings: { cache_enabled: true, database_url: await preparedDatabase(postgresUrl), redis_url: redisUrl },
      model_list: [
        { model_name: 'group', deployment_id: 'group', gateway_params: { model: 'echo/echo' }, model_info: PRICES },
        { model_name: 'small', deployment_id: 'small', gateway_params: { model: 'echo/echo' }, model_info: PRICES },
        deployment(upstream.url, 'slow', slow, PRICES),
      ],
    })
    ;[one, other] = await Promise.all([startFullGateway(yaml), startFullGateway(yaml)])
    await upstream.script(slow, [answer({ text: 'slow' }, slowHeaders({ ms: 400 }))])
  }, 60_000)
  afterAll(() => Promise.all([one?.close(), other?.close()]))

  async function made(what: string, body: object): Promise<Record<string, string>> {
    const { status, body: record } = await ask('POST', `/${what}`, body)
    expect(status, JSON.stringify(record)).toBe(201)
    return record
  }
  const organization = async () => (await made('organizations', {})).organization_id as string
  const keyIn = async (organization_id?: string, more: object = {}) =>
    made('keys', {
      ...(organization_id ? { team_id: (await made('teams', { organization_id })).team_id } : {}),
      ...more,
    })

  async function call(gateway: FullGateway, key: string, body: object) {
    const response = await fetch(
      `${gateway.url}/v1/chat/completions`,
      chatInit({ model: 'group', messages, ...body }, { headers: { authorization: `Bearer ${key}` } }),
    )
    const answered = (await response.json()) as { id?: string; error?: { code: string } }
    return { status: response.status, cache: response.headers.get('x-gateway-cache'), id: answered.id ?? '' }
  }
  const settled = () => Promise.all([one.idle(), other.idle()])

  it(`${PAIRS} random pairs of tenants never get each other's answers, and keys of one organization share theirs`, async () => {
    const organizations = await Promise.all(Array.from({ length: 10 }, organization))
    const keys = await Promise.all(
      [...organizations, ...organizations, ...Array(20).fill(undefined)].map(async (tenant) => {
        const { key = '', key_id = '' } = await keyIn(tenant)
        return { key, tenant: tenant ?? key_id }
      }),
    )
    const random = seededRandom(16)
    let shared = 0
    const pairs = Array.from({ length: PAIRS }, (_, at) => ({
      first: random.pick(keys),
      second: random.pick(keys),
      at,
    }))
    const caller = async () => {
      for (let pair = pairs.pop(); pair; pair = pairs.pop()) {
        const { first, second, at } = pair
        // Now and then it names another tenant.
        const body = { seed: at, user: random.pick([second.tenant, 'organization:x', '']) }
        const asked = await call(random.pick([one, other]), first.key, body)
        await settled()
        const repeated = await call(random.pick([one, other]), second.key, body)
        const same = first.tenant === second.tenant
        expect([asked.cache, repeated.cache], JSON.stringify({ first, second })).toEqual([
          'miss',
          same ? 'hit' : 'miss',
        ])
        expect(repeated.id === asked.id).toBe(same)
        if (same) shared += 1
      }
    }
    await Promise.all(Array.from({ length: 8 }, caller))
    expect(shared).toBeGreaterThan(10)
  }, 120_000)

  it('counts hits in limits, and never more than a limit', async () => {
    const { key = '' } = await keyIn(undefined, { rpm_limit: 20 })
    const got = await Promise.all(
      Array.from({ length: 60 }, (_, at) => call(at % 2 ? one : other, key, { model: 'slow', seed: 1 })),
    )
    expect(got.filter(({ status }) => status === 200)).toHaveLength(20)
    expect(got.filter(({ status }) => status === 429)).toHaveLength(40)
    expect((await upstream.calls(slow)).length).toBe(1)
  })

  it('needs no money for what costs nothing, and gives nothing to a spent budget', async () => {
    const cost = async (key_id: string) => {
      await settled()
      return (await ask('GET', `/keys/${key_id}`)).body.spend as number
    }
    const before = (await upstream.calls(slow)).length
    const { key: first = '', key_id: firstId = '' } = await keyIn()
    await call(one, first, { model: 'slow', max_tokens: 5 })
    await expect.poll(() => cost(firstId)).toBeGreaterThan(0)
    const price = await cost(firstId)

    // Room for twenty calls, and a hundred at once.
    const { key = '', key_id = '' } = await keyIn(undefined, { max_budget: price * 20 })
    const many = (body: object) =>
      Promise.all(Array.from({ length: 100 }, (_, at) => call(at % 2 ? one : other, key, body)))
    const got = await many({ model: 'slow', max_tokens: 5 })
    expect(got.map(({ status }) => status)).toEqual(Array(100).fill(200))
    expect((await upstream.calls(slow)).length - before).toBe(2)
    await expect.poll(() => cost(key_id)).toBeCloseTo(price, 9)

    expect((await call(other, key, { model: 'slow', max_tokens: 5 })).cache).toBe('hit')
    await ask('PATCH', `/keys/${key_id}`, { max_budget: price })
    expect((await call(other, key, { model: 'slow', max_tokens: 5 })).status).toBe(429)
  })

  it('leaves no slot behind, and needs one', async () => {
    const { key = '' } = await keyIn(undefined, { max_parallel_requests: 2 })
    const got = await Promise.all(Array.from({ length: 30 }, () => call(one, key, { model: 'slow', seed: 3 })))
    expect(got.map(({ status }) => status)).toEqual(Array(30).fill(200))
    await settled()
    for (const seed of [4, 3, 5, 3]) expect((await call(other, key, { seed })).status).toBe(200)
  })

  describe('is cleared', () => {
    it('by scope and model, everywhere at once, and what is asked for meanwhile is not used', async () => {
      const [a, b] = [await organization(), await organization()]
      const [inA, inB, alone] = [await keyIn(a), await keyIn(b), await keyIn()]
      const all = [inA, inB, alone].flatMap(({ key = '' }) => ['group', 'small'].map((model) => ({ key, model })))
      const states = async () => {
        const seen = await Promise.all(all.map(({ key, model }) => call(other, key, { model, seed: 9 })))
        await settled()
        return seen.map(({ cache }) => cache)
      }
      const [hit, miss] = ['hit', 'miss']
      expect(await states()).toEqual(Array(6).fill(miss))
      expect(await states()).toEqual(Array(6).fill(hit))
      const clear = (query: Record<string, string>) => ask('DELETE', `/cache?${new URLSearchParams(query)}`)
      expect(await clear({ scope: `organization:${a}`, model: 'small' })).toEqual({
        status: 200,
        body: { scope: `organization:${a}`, model: 'small' },
      })
      expect(await states()).toEqual([hit, miss, hit, hit, hit, hit])
      expect(await states()).toEqual(Array(6).fill(hit))
      await clear({ scope: `api_key:${alone.key_id}` })
      expect(await states()).toEqual([hit, hit, hit, hit, miss, miss])
      await clear({ model: 'group' })
      expect(await states()).toEqual([miss, hit, miss, hit, miss, hit])
      await clear({})
      expect(await states()).toEqual(Array(6).fill(miss))

      const running = call(one, String(alone.key), { model: 'slow', seed: 10 })
      await new Promise((resolve) => setTimeout(resolve, 150))
      await clear({})
      const before = (await upstream.calls(slow)).length
      const asked = await call(other, String(alone.key), { model: 'slow', seed: 10 })
      expect([asked.cache, (await running).cache]).toEqual([miss, miss])
      expect((await upstream.calls(slow)).length).toBe(before + 1)
    })

    it('by those who may change the configuration, in the audit, and refuses what names no scope', async () => {
      const { key = '' } = await keyIn()
      const init = { method: 'DELETE', headers: { authorization: `Bearer ${key}` } }
      expect((await one.fetch('/ui/api/cache', init)).status).toBeGreaterThanOrEqual(401)
      expect((await ask('DELETE', '/cache?scope=team:1')).body.error.param).toBe('scope')
      expect((await ask('DELETE', '/cache?everything=1')).status).toBe(400)
      const cleared = async () => {
        const { body } = await ask('GET', '/audit/events?action=cache.clear')
        return body.data.find(({ status }: { status: number }) => status === 200)
      }
      await expect.poll(cleared).toMatchObject({ action: 'cache.clear', metadata: { scope: null } })
    })
  })
})
