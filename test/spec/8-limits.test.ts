import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type FullGateway, startFullGateway } from '../support/full-gateway.node.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { freshDatabase } from '../support/postgres.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { configuration, echo } from './configuration.ts'

const postgresUrl = inject('postgresUrl')
const messages = [{ role: 'user', content: 'Hello' }]
const model_list = [echo('echo', 'echo-1')]

describe.skipIf(postgresUrl === '' || inject('redisUrl') === '')('Degraded mode', () => {
  let redis: RedisServer
  let open: FullGateway
  let closed: FullGateway

  beforeAll(async () => {
    redis = (await startRedis()) as RedisServer
    const start = async (more: object) => {
      const stores = { database_url: await freshDatabase(postgresUrl), redis_url: redis.url }
      return startFullGateway(configuration({ general_settings: { ...stores, ...more }, model_list }))
    }
    open = await start({})
    closed = await start({ degraded_mode: 'fail_closed' })
  })
  afterAll(async () => {
    await open.close()
    await closed.close()
    await redis.stop()
  })

  const statusOf = async (gateway: FullGateway) => (await gateway.chat({ model: 'echo', messages })).status

  it('while the shared store is there, both modes answer and are ready', async () => {
    for (const gateway of [open, closed]) {
      expect(await statusOf(gateway)).toBe(200)
      expect((await gateway.fetch('/health/readiness')).status).toBe(200)
    }
  })

  it('when the shared store is unavailable, fail_open (default) goes on with counters of the process', async () => {
    await redis.stop()
    for (let call = 0; call < 3; call++) expect(await statusOf(open)).toBe(200)
  })

  it('fail_closed: every request is rejected with 503', async () => {
    const response = await closed.chat({ model: 'echo', messages })
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ error: { code: 'store_unavailable' } })
  })

  it('readiness check fails: 503, and the report says which dependency is away', async () => {
    for (const gateway of [open, closed]) {
      const response = await gateway.fetch('/health/readiness')
      expect(response.status).toBe(503)
      expect(await response.json()).toEqual({ status: 'unavailable', checks: { redis: false, database: true } })
      expect((await gateway.fetch('/health/liveliness')).status).toBe(200)
    }
  })
})

describe('Deployment limits', () => {
  const limited = [echo('group', 'limits-a', { rpm_limit: 2 })]
  let gateway: TestGateway
  const statuses = async (calls: number) => {
    const found: number[] = []
    for (let call = 0; call < calls; call++) found.push((await gateway.chat({ model: 'group', messages })).status)
    return found
  }

  it('2. they are enforced during routing only when `enable_pre_call_checks` is true (default false)', async () => {
    gateway = await startGateway(configuration({ model_list: limited }))
    expect(await statuses(5)).toEqual([200, 200, 200, 200, 200])
    await gateway.close()
  })

  it('3. a deployment at or above 100% of its limit is excluded; when no candidate is left, the request fails with 503', async () => {
    const router_settings = { enable_pre_call_checks: true }
    gateway = await startGateway(configuration({ router_settings, model_list: limited }))
    expect(await statuses(4)).toEqual([200, 200, 503, 503])
    await gateway.close()
  })

  it('3. exactly as many as the limit pass, when all come at once', async () => {
    const router_settings = { enable_pre_call_checks: true }
    gateway = await startGateway(configuration({ router_settings, model_list: limited }))
    const all = await Promise.all(Array.from({ length: 20 }, () => gateway.chat({ model: 'group', messages })))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(2)
    await gateway.close()
  })
})
