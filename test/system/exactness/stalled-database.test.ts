import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { startRedisOverHttp } from '../../../src/runtimes/local/redis-over-http.node.ts'
import { type FullGateway, startFullGateway } from '../../support/full-gateway.node.ts'
import { chatInit, MASTER_KEY } from '../../support/gateway.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'
import { rawRedis } from '../../support/raw-redis.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { workerModules } from '../worker/support/built-once.ts'
import { type Edge, edgeExists, REDIS_TOKEN, startEdge } from '../worker/support/edge.ts'
import { type Switchable, switchable } from '../worker/support/switchable.ts'
import { withConfig } from '../worker/support/worker-modules.ts'
import { startWorkerd, type Workerd } from '../worker/support/workerd.ts'
import { as, pairExists } from './pair.ts'

const LIMIT_MS = 2000
/** What a busy machine adds. */
const NOISE_MS = 2000

const models = `
model_list:
  - model_name: m
    gateway_params: { model: echo/m }
    model_info: { input_cost_per_token: 0.001, output_cost_per_token: 0.001 }
`

interface Runtime {
  readonly fetch: (path: string, init?: RequestInit) => Promise<Response>
  readonly database: Switchable
  /** Takes everything of the shared store away that begins so. */
  forget(prefix: string): Promise<void>
  close(): Promise<void>
}

async function onNode(): Promise<Runtime> {
  const database = await switchable(await preparedDatabase(inject('postgresUrl')))
  const redis = (await startRedis()) as RedisServer
  const http = await startRedisOverHttp({ redisUrl: redis.url, port: 0, token: REDIS_TOKEN })
  const gateway: FullGateway = await startFullGateway(
    `general_settings: { database_url: '${database.url}', redis_url: '${redis.url}' }${models}`,
  )
  return {
    fetch: gateway.fetch,
    database,
    forget: (prefix) => forget(http.url, prefix),
    async close() {
      await gateway.close()
      await database.close()
      await http.close()
      await redis.stop()
    },
  }
}

async function onWorkerd(): Promise<Runtime> {
  const edge: Edge = await startEdge()
  const worker: Workerd = await startWorkerd(withConfig(await workerModules(), models), edge.variables)
  return {
    fetch: (path, init = {}) =>
      fetch(worker.url + path, { ...init, headers: { authorization: `Bearer ${MASTER_KEY}`, ...init.headers } }),
    database: edge.postgres,
    forget: (prefix) => forget(edge.redis.url, prefix),
    async close() {
      await worker.stop()
      await edge.close()
    },
  }
}

async function forget(url: string, prefix: string): Promise<void> {
  const script = `for _, key in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', key) end return 1`
  await rawRedis(url, REDIS_TOKEN).command('EVAL', script, 0, `${prefix}*`)
}

describe.skipIf(!pairExists() || !edgeExists()).each([
  ['Node', onNode],
  ['workerd', onWorkerd],
])('on %s, a database that takes everything and answers nothing', (_, start) => {
  let gateway: Runtime

  beforeAll(async () => {
    gateway = await start()
    expect((await ask(await newKey())).status).toBe(200)
  })
  afterEach(async () => {
    await gateway.database.set('open')
    // Connections that were kept waiting are replaced.
    await expect.poll(async () => (await gateway.fetch('/health/readiness')).status, { timeout: 15_000 }).toBe(200)
  })
  afterAll(() => gateway?.close())

  async function newKey(fields: object = {}): Promise<string> {
    const response = await gateway.fetch('/ui/api/keys', chatInit(fields))
    return ((await response.json()) as { key: string }).key
  }
  async function ask(key: string, path = '/v1/chat/completions') {
    const startedAt = performance.now()
    const messages = [{ role: 'user', content: 'Hello' }]
    const init = path === '/v1/models' ? {} : chatInit({ model: 'm', messages, max_tokens: 1 })
    const response = await gateway.fetch(path, { ...init, headers: { ...init.headers, ...as(key) } })
    const body = (await response.json()) as { error?: { code: string } }
    const retryAfter = response.headers.get('retry-after')
    return { status: response.status, code: body.error?.code, retryAfter, ms: performance.now() - startedAt }
  }
  const AWAY = { status: 503, code: 'database_unavailable', retryAfter: '2' }

  it('keeps a key that nobody has seen yet, and many at once, for two seconds', async () => {
    const keys = await Promise.all(Array.from({ length: 12 }, () => newKey()))
    await gateway.database.set('stalled')
    const answers = await Promise.all([
      ...keys.map((key) => ask(key)),
      ...keys.slice(0, 3).map((key) => ask(key, '/v1/models')),
      ask(keys[0] as string),
    ])
    for (const { ms, ...answer } of answers) {
      expect(answer).toEqual(AWAY)
      expect(ms).toBeLessThan(LIMIT_MS + NOISE_MS)
    }
    await gateway.database.set('open')
    await expect.poll(async () => (await ask(keys[0] as string)).status, { timeout: 15_000 }).toBe(200)
  }, 40_000)

  it('keeps a budget that the shared store has lost for two seconds, and holds nobody else', async () => {
    const key = await newKey({ max_budget: 5 })
    const other = await newKey()
    expect([(await ask(key)).status, (await ask(other)).status]).toEqual([200, 200])
    await wait(300)
    await gateway.forget('gateway:budget:')
    await gateway.database.set('stalled')
    const { ms, ...answer } = await ask(key)
    expect(answer).toEqual(AWAY)
    expect(ms).toBeLessThan(LIMIT_MS + NOISE_MS)
    for (let turn = 0; turn < 5; turn++) {
      const served = await ask(other)
      expect(served.status).toBe(200)
      expect(served.ms).toBeLessThan(NOISE_MS)
    }
  })

  it('keeps a key of which the shared store has lost the versions for two seconds', async () => {
    const key = await newKey()
    expect((await ask(key)).status).toBe(200)
    // What was read a moment ago is taken for true.
    await wait(1100)
    await gateway.forget('gateway:version:')
    await gateway.database.set('stalled')
    const { ms, ...answer } = await ask(key)
    expect(answer).toEqual(AWAY)
    expect(ms).toBeLessThan(LIMIT_MS + NOISE_MS)
  })
})
