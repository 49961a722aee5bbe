import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { DEADLINES } from '../../../src/stores/kv/degrading/guarded.ts'
import { chatInit, MASTER_KEY } from '../../support/gateway.ts'
import { mostUnpaid } from '../../support/store-outage.ts'
import { workerModules } from './support/built-once.ts'
import { DATABASE_PASSWORD, type Edge, edgeExists, REDIS_TOKEN, SALT_KEY, startEdge } from './support/edge.ts'
import { withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

/** What a machine adds that stands still. */
const NOISE_MS = 5000
const CONTENT = 'content-canary-77b1'
const yaml = (mode: string) => `
general_settings: { degraded_mode: ${mode}, log_level: debug }
model_list:
  - model_name: echo
    gateway_params: { model: echo/echo, api_key: sk-provider-canary-e7d0 }
`

describe.skipIf(!edgeExists())('on workerd, with a store that goes away', () => {
  let edge: Edge
  const workers = {} as Record<'fail_open' | 'fail_closed', Workerd>

  beforeAll(async () => {
    edge = await startEdge()
    const modules = await workerModules()
    for (const mode of ['fail_open', 'fail_closed'] as const) {
      workers[mode] = await startWorkerd(withConfig(modules, yaml(mode)), edge.variables)
      await fetch(`${workers[mode].url}/health`)
    }
  })
  afterEach(async () => {
    await edge.redis.set('open')
    await edge.postgres.set('open')
  })
  afterAll(async () => {
    await Promise.all(Object.values(workers).map((worker) => worker.stop()))
    await edge?.close()
  })

  async function chat(mode: keyof typeof workers) {
    const startedAt = performance.now()
    const response = await fetch(`${workers[mode].url}/v1/chat/completions`, {
      ...chatInit({ model: 'echo', messages: [{ role: 'user', content: CONTENT }] }),
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
    })
    const body = (await response.json()) as { error?: { code: string } }
    const { status, headers } = response
    return { status, code: body.error?.code, headers, ms: performance.now() - startedAt }
  }

  async function readiness(mode: keyof typeof workers) {
    const startedAt = performance.now()
    const response = await fetch(`${workers[mode].url}/health/readiness`)
    const { checks } = (await response.json()) as { checks: { redis: boolean; database: boolean } }
    return { status: response.status, ...checks, ms: performance.now() - startedAt }
  }

  const lines = (mode: keyof typeof workers) =>
    workers[mode]
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { event: string; level: string })

  it.each(['closed', 'stalled'] as const)(
    'fail_open goes on answering while Redis is %s, and comes back',
    async (line) => {
      expect((await chat('fail_open')).status).toBe(200)
      const recoveries = () => lines('fail_open').filter(({ event }) => event === 'store.recovered').length
      const before = recoveries()
      await edge.redis.set(line)
      const answers = []
      for (let call = 0; call < 20; call++) answers.push(await chat('fail_open'))
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
      // Three calls find out that it is away; the rest pay nothing.
      expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(DEADLINES.patienceMs + NOISE_MS)
      expect(mostUnpaid(answers.slice(3).map(({ ms }) => ms))).toBe(true)

      await edge.redis.set('open')
      await expect
        .poll(async () => [(await chat('fail_open')).status, recoveries()], { interval: 50 })
        .toEqual([200, before + 1])
    },
  )

  it.each(['closed', 'stalled'] as const)('fail_closed says so while Redis is %s, and comes back', async (line) => {
    expect((await chat('fail_closed')).status).toBe(200)
    await edge.redis.set(line)
    const answers = []
    for (let call = 0; call < 12; call++) {
      const answer = await chat('fail_closed')
      answers.push(answer)
      expect(answer).toMatchObject({ status: 503, code: 'store_unavailable' })
      expect(answer.headers.get('retry-after')).toBe('1')
      expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
      expect(answer.ms).toBeLessThan(DEADLINES.patienceMs + NOISE_MS)
    }
    expect(mostUnpaid(answers.slice(3).map(({ ms }) => ms))).toBe(true)
    await edge.redis.set('open')
    await expect.poll(async () => (await chat('fail_closed')).status, { interval: 50 }).toBe(200)
  })

  it.each([
    ['redis', 'closed'],
    ['redis', 'stalled'],
    ['postgres', 'closed'],
    ['postgres', 'stalled'],
  ] as const)('is not ready within a second while %s is %s, and ready again after it', async (store, line) => {
    await expect.poll(async () => (await readiness('fail_open')).status).toBe(200)
    await edge[store].set(line)
    const answer = await readiness('fail_open')
    expect(answer).toMatchObject({ status: 503, redis: store !== 'redis', database: store !== 'postgres' })
    expect(answer.ms).toBeLessThan(1000 + NOISE_MS)
    const health = (await (await fetch(`${workers.fail_open.url}/health`)).json()) as { readiness: { status: string } }
    expect(health).toMatchObject({ liveliness: 'ok', readiness: { status: 'unavailable' } })
    await edge[store].set('open')
    await expect.poll(async () => (await readiness('fail_open')).status).toBe(200)
  })

  it('calls never wait for Postgres', async () => {
    await edge.postgres.set('stalled')
    const answer = await chat('fail_open')
    expect(answer.status).toBe(200)
    expect(answer.ms).toBeLessThan(1000 + NOISE_MS)
  })

  it('logs say what happened and nothing that is secret', async () => {
    for (const mode of ['fail_open', 'fail_closed'] as const) {
      const events = new Set(lines(mode).map(({ event }) => event))
      expect(events).toContain('store.degraded')
      for (const canary of [CONTENT, MASTER_KEY, SALT_KEY, REDIS_TOKEN, DATABASE_PASSWORD, 'sk-provider-canary-e7d0']) {
        expect(workers[mode].output()).not.toContain(canary)
      }
      // Whatever is printed beside log lines is the runtime's complaint about us.
      const others = workers[mode]
        .output()
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('{'))
      expect(others).toEqual([])
    }
  })
})
