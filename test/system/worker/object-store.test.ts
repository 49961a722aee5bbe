import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chatInit, MASTER_KEY } from '../../support/gateway.ts'
import { workerModules } from './support/built-once.ts'
import { type Edge, edgeExists, startEdge } from './support/edge.ts'
import { withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

const yaml = `
model_list:
  - { model_name: echo, gateway_params: { model: echo/echo }, model_info: { input_cost_per_token: 0.001 } }
`
const body = chatInit({ model: 'echo', messages: [{ role: 'user', content: 'Hello' }] })

describe.skipIf(!edgeExists())('on workerd without Redis, the shared store in a Durable Object', () => {
  let edge: Edge
  let folder: string
  let worker: Workerd

  const start = async () => {
    const { REDIS_URL: _url, REDIS_TOKEN: _token, ...variables } = edge.variables
    return startWorkerd(withConfig(await workerModules(), yaml), variables, { storeFolder: folder })
  }
  beforeAll(async () => {
    edge = await startEdge()
    folder = await mkdtemp(join(tmpdir(), 'gateway-object-'))
    worker = await start()
    expect(await chat(MASTER_KEY)).toBe(200)
  })
  afterAll(async () => {
    await worker?.stop()
    await edge?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const ask = (key: string, path: string, init: RequestInit = {}) =>
    fetch(worker.url + path, { ...init, headers: { ...init.headers, authorization: `Bearer ${key}` } })
  async function chat(key: string): Promise<number> {
    const response = await ask(key, '/v1/chat/completions', body)
    await response.arrayBuffer()
    return response.status
  }
  async function newKey(limits: object): Promise<{ key: string; key_id: string }> {
    const response = await ask(MASTER_KEY, '/ui/api/keys', chatInit(limits))
    expect(response.status).toBe(201)
    return response.json() as Promise<{ key: string; key_id: string }>
  }
  async function standing(keyId: string) {
    const response = await ask(MASTER_KEY, `/ui/api/keys/${keyId}/standing`)
    expect(response.status).toBe(200)
    return JSON.stringify(await response.json())
  }

  it('is what the installation tells of, and is there', async () => {
    const instance = (await (await ask(MASTER_KEY, '/ui/api/instance')).json()) as { store: object }
    expect(instance.store).toMatchObject({ kind: 'durable-object', mode: 'shared', ok: true })
  })

  it('counts exactly what comes at once', async () => {
    const { key } = await newKey({ rpm_limit: 20 })
    const statuses = await Promise.all(Array.from({ length: 60 }, () => chat(key)))
    expect(statuses.filter((status) => status === 200)).toHaveLength(20)
    expect(statuses.filter((status) => status === 429)).toHaveLength(40)
  })

  it('lets go of the slots of calls that have ended, and refuses what would be one too many', async () => {
    const { key } = await newKey({ max_parallel_requests: 1 })
    for (let turn = 0; turn < 5; turn++) expect(await chat(key)).toBe(200)
  })

  it('goes by a change from the next call on', async () => {
    const { key, key_id } = await newKey({})
    expect(await chat(key)).toBe(200)
    expect((await ask(MASTER_KEY, `/ui/api/keys/${key_id}`, { method: 'DELETE' })).status).toBeLessThan(300)
    expect(await chat(key)).toBe(401)
  })

  it('has what it counted a second ago after a kill, and what calls have cost', async () => {
    const { key, key_id } = await newKey({ rpd_limit: 5, max_budget: 10, budget_duration: '30d' })
    for (let turn = 0; turn < 3; turn++) expect(await chat(key)).toBe(200)
    const before = await standing(key_id)
    await wait(1200)
    // Without a word of farewell.
    await worker.stop()
    worker = await start()
    expect(await standing(key_id)).toBe(before)
    expect(await chat(key)).toBe(200)
    expect(await chat(key)).toBe(200)
    expect(await chat(key)).toBe(429)
  })
})
