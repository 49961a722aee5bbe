import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { chatInit, MASTER_KEY } from '../../support/gateway.ts'
import { serverError } from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import { workerModules } from './support/built-once.ts'
import { type Edge, edgeExists, startEdge } from './support/edge.ts'
import { withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

const KEY = 'sk-stored-canary-of-workers-9b2'
const upstream = upstreamClient(inject('upstreamUrl'))
const yaml = `
general_settings: { log_level: debug }
router_settings: { cooldown_time: 0 }
model_list:
  - { model_name: of-file, gateway_params: { model: echo/file } }
`

describe.skipIf(!edgeExists())('on workerd, models of the database', () => {
  let edge: Edge
  let one: Workerd
  let other: Workerd

  beforeAll(async () => {
    edge = await startEdge()
    const modules = withConfig(await workerModules(), yaml)
    one = await startWorkerd(modules, edge.variables)
    other = await startWorkerd(modules, edge.variables)
  })
  afterAll(async () => {
    await Promise.all([one?.stop(), other?.stop()])
    await edge?.close()
  })

  const call = (worker: Workerd, path: string, init: RequestInit) =>
    fetch(worker.url + path, { ...init, headers: { ...init.headers, authorization: `Bearer ${MASTER_KEY}` } })

  async function status(worker: Workerd, model: string): Promise<number> {
    const body = { model, messages: [{ role: 'user', content: 'Hello' }] }
    const response = await call(worker, '/v1/chat/completions', chatInit(body))
    await response.body?.cancel()
    return response.status
  }

  async function create(model_name: string, gateway_params: object): Promise<Response> {
    return call(one, '/ui/api/models', chatInit({ model_name, gateway_params }))
  }

  it('are sealed there, called with their secret, and known to an isolate from its first call', async () => {
    const params = { model: 'openai-compatible/ui-workerd', api_base: `${upstream.url}/v1`, api_key: KEY }
    const made = await create('made', params)
    expect(made.status).toBe(201)
    expect(await made.json()).toMatchObject({ deployment_id: 'made-1', has_api_key: true })
    expect(await status(one, 'made')).toBe(200)
    expect((await upstream.calls('ui-workerd'))[0]?.headers.authorization).toBe(`Bearer ${KEY}`)
    expect(await status(other, 'made')).toBe(200)
  })

  it('reach a running isolate within 5 s, an idle one with its next call', async () => {
    expect(await status(other, 'of-file')).toBe(200)
    expect((await create('soon', { model: 'echo/soon' })).status).toBe(201)
    const deadline = Date.now() + 15_000
    while ((await status(other, 'soon')) !== 200) {
      expect(Date.now()).toBeLessThan(deadline)
      await wait(100)
    }
    // A call waits for a quarter of a second for what its isolate reads: it misses only what takes longer on a busy machine.
    for (let silences = 1; ; silences++) {
      expect((await create(`later-${silences}`, { model: 'echo/later' })).status).toBe(201)
      await wait(5000)
      const startedAt = performance.now()
      if ((await status(other, `later-${silences}`)) === 200) break
      expect(performance.now() - startedAt).toBeGreaterThan(250)
      expect(silences).toBeLessThan(5)
    }
  })

  it('a policy that is published reaches a running isolate within 5 s', async () => {
    const model = 'openai-compatible/policy-workerd'
    const made = await create('governed', { model, api_base: `${upstream.url}/v1`, api_key: KEY })
    expect(made.status).toBe(201)
    await upstream.script('policy-workerd', [serverError()])
    const attempts = async () => {
      const body = { model: 'governed', messages: [{ role: 'user', content: 'Hello' }] }
      const response = await call(other, '/v1/chat/completions', chatInit(body))
      await response.body?.cancel()
      return Number(response.headers.get('x-gateway-attempts'))
    }
    const within5s = async (wanted: number) => {
      const deadline = Date.now() + 15_000
      while ((await attempts()) !== wanted) {
        expect(Date.now()).toBeLessThan(deadline)
        await wait(100)
      }
    }
    await within5s(1)
    const path = '/ui/api/route-groups/governed/policy'
    const policy = { num_retries: 2, retry_after: 0.01 }
    const drafted = await call(one, `${path}/draft`, chatInit(policy, { method: 'PUT' }))
    expect(drafted.status).toBe(200)
    expect((await call(one, `${path}/publish`, { method: 'POST' })).status).toBe(200)
    await within5s(3)
  })

  it('stay known while the database is away, and calls do not wait for it', async () => {
    await edge.postgres.set('stalled')
    await wait(4500)
    await status(other, 'made')
    const startedAt = performance.now()
    expect(await status(other, 'made')).toBe(200)
    expect(performance.now() - startedAt).toBeLessThan(4000)
    await edge.postgres.set('open')
  })

  it.each(['closed', 'stalled'] as const)('admin routes are a 503 in time while the database is %s', async (line) => {
    await edge.postgres.set(line)
    const startedAt = performance.now()
    const answer = await call(one, '/ui/api/models', {})
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('2')
    expect(await answer.json()).toMatchObject({ error: { code: 'database_unavailable' } })
    expect(performance.now() - startedAt).toBeLessThan(15_000)
    await edge.postgres.set('open')
  })

  it('an isolate that could not read them yet says so of what the file does not name, models and tools', async () => {
    await edge.postgres.set('closed')
    const fresh = await startWorkerd(withConfig(await workerModules(), yaml), edge.variables)
    try {
      expect(await status(fresh, 'of-file')).toBe(200)
      expect(await status(fresh, 'made')).toBe(503)
      const asked = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'any__tool', arguments: {} } }
      const answer = await (await call(fresh, '/mcp', chatInit(asked))).json()
      expect(answer).toMatchObject({ id: 1, error: { code: -32000, data: { code: 'database_unavailable' } } })
    } finally {
      await fresh.stop()
      await edge.postgres.set('open')
    }
  })

  it('their secrets are in no log line', () => {
    expect([one.output(), other.output()].filter((text) => text.includes(KEY))).toEqual([])
  })
})
