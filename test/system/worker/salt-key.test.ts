import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readSaltKey, successorOf } from '../../../src/lib/sealing/salt-key.ts'
import { nodePostgresSql } from '../../../src/stores/sql/adapters/node-postgres.node.ts'
import type { Sql } from '../../../src/stores/sql/sql.ts'
import { chatInit, MASTER_KEY } from '../../support/gateway.ts'
import { startUpstream, type Upstream } from '../../support/scripted-upstream.ts'
import { withBatchTurns } from './support/batch-turns.ts'
import { workerModules } from './support/built-once.ts'
import { type Edge, edgeExists, SALT_KEY, startEdge } from './support/edge.ts'
import { withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

const NEW = successorOf(SALT_KEY)

describe.skipIf(!edgeExists())('on workerd, the salt key', () => {
  let edge: Edge
  let upstream: Upstream
  let sql: Sql
  const workers: Workerd[] = []
  beforeAll(async () => {
    edge = await startEdge()
    upstream = await startUpstream()
    sql = nodePostgresSql({ connectionString: edge.databaseUrl })
  })
  afterAll(async () => {
    await sql?.close()
    await Promise.all(workers.map((worker) => worker.stop()))
    await upstream?.close()
    await edge?.close()
  })

  async function withKeys(keys: Record<string, string>): Promise<Workerd> {
    const modules = withBatchTurns(withConfig(await workerModules(), 'model_list: []'))
    const worker = await startWorkerd(modules, { ...edge.variables, ...keys })
    workers.push(worker)
    return worker
  }
  /** As clients do, it asks again where an isolate has not read the database in time. */
  async function call(worker: Workerd, key: string, tries = 10): Promise<number> {
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
    const init = chatInit(body, { headers: { authorization: `Bearer ${key}` } })
    const { status } = await fetch(`${worker.url}/v1/chat/completions`, init)
    if (status !== 503 || tries === 1) return status
    await wait(500)
    return call(worker, key, tries - 1)
  }
  async function made({ url }: Workerd, path: string, body: object): Promise<Record<string, string>> {
    const headers = { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' }
    const answer = await fetch(`${url}/ui/api/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    expect(answer.status).toBe(201)
    return answer.json()
  }

  it('is replaced from secret to secret: the cron seals anew, and no key and no model is lost', async () => {
    const before = await withKeys({})
    const { key = '' } = await made(before, 'keys', {})
    const params = { model: 'openai-compatible/m', api_base: `${upstream.url}/v1`, api_key: 'sk-provider-0123456789' }
    await made(before, 'models', { deployment_id: 'm-1', model_name: 'm', gateway_params: params })
    expect(await call(before, key)).toBe(200)

    const learned = await withKeys({ GATEWAY_SALT_KEY_NEXT: NEW })
    const using = await withKeys({ GATEWAY_SALT_KEY: NEW, GATEWAY_SALT_KEY_PREVIOUS: SALT_KEY })
    const early = await withKeys({ GATEWAY_SALT_KEY: NEW })
    for (const worker of [before, learned, using]) expect(await call(worker, key)).toBe(200)
    await expect.poll(async () => (await fetch(`${early.url}/health/readiness`)).status).toBe(503)

    expect((await fetch(`${using.url}/scheduled`)).status).toBe(200)
    const { rows } = await sql.query({ sql: 'SELECT sealed FROM gateway_model', parameters: [] })
    expect(String(rows[0]?.sealed).split('.')[0]).toBe(readSaltKey(NEW).mark)
    const alone = await withKeys({ GATEWAY_SALT_KEY: NEW })
    for (const worker of [alone, using, learned]) expect(await call(worker, key)).toBe(200)
    expect((await fetch(`${alone.url}/health/readiness`)).status).toBe(200)
  })
})
