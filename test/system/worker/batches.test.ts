import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { configuration, deployment } from '../../support/configuration.ts'
import { MASTER_KEY } from '../../support/gateway.ts'
import { s3Endpoint } from '../../support/s3.ts'
import { change, json, slowHeaders } from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import { withBatchTurns } from './support/batch-turns.ts'
import { workerModules } from './support/built-once.ts'
import { type Edge, edgeExists, startEdge } from './support/edge.ts'
import { withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

const STORAGE = { bucket: 'gateway', region: 'us-east-1', accessKeyId: 'AKIATEST', secretAccessKey: 'a/secret+key' }
const REQUESTS = 250

describe.skipIf(!edgeExists())('batches on Workers', { timeout: 120_000 }, () => {
  const upstream = upstreamClient(inject('upstreamUrl'))
  const storage = createServer(getRequestListener(s3Endpoint(STORAGE).fetch))
  let edge: Edge
  let isolates: Workerd[]
  let sql: pg.Pool

  beforeAll(async () => {
    await new Promise<void>((resolve) => storage.listen(0, '127.0.0.1', resolve))
    edge = await startEdge()
    sql = new pg.Pool({ connectionString: edge.databaseUrl, max: 2 })
    const yaml = configuration({
      general_settings: {
        embeddings_batch_enabled: true,
        health_check_interval: 3600,
        blob_storage: {
          endpoint: `http://127.0.0.1:${(storage.address() as AddressInfo).port}`,
          bucket: STORAGE.bucket,
          access_key_id: STORAGE.accessKeyId,
          secret_access_key: STORAGE.secretAccessKey,
        },
      },
      model_list: [
        deployment(upstream.url, 'm', 'batched-at-the-edge'),
        ...Array.from({ length: 8 }, (_, at) => deployment(`${upstream.url}/idle`, 'idle', `idle-${at}`)),
      ],
    })
    const modules = withBatchTurns(withConfig(await workerModules(), yaml))
    const start = () => startWorkerd(modules, edge.variables, { queue: 'taking' })
    isolates = await Promise.all([start(), start()])
  })
  afterAll(async () => {
    await Promise.all((isolates ?? []).map((isolate) => isolate.stop()))
    await sql?.end()
    await edge?.close()
    storage.close()
  })

  const at = (isolate: number, path: string, init: RequestInit = {}) =>
    fetch(`${isolates[isolate]?.url}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${MASTER_KEY}`, ...(init.headers as Record<string, string>) },
    })
  const batchOf = async (id: string) => (await at(0, `/v1/batches/${id}`)).json()

  async function make(count: number): Promise<string> {
    const lines = Array.from({ length: count }, (_, item) =>
      JSON.stringify({
        custom_id: `r-${item}`,
        method: 'POST',
        url: '/v1/chat/completions',
        body: { model: 'm', messages: [{ role: 'user', content: `r-${item}` }] },
      }),
    )
    const form = new FormData()
    form.set('purpose', 'batch')
    form.set('file', new Blob([lines.join('\n')]), 'in.jsonl')
    const file = await (await at(0, '/v1/files', { method: 'POST', body: form })).json()
    const made = await at(0, '/v1/batches', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' }),
    })
    return (await made.json()).id
  }

  it('go on with each wake-up, whoever gets it and however often', async () => {
    const id = await make(REQUESTS)
    const wake = async (isolate: number) => (await at(isolate, '/wake', { method: 'POST' })).json()
    expect(await Promise.all([wake(0), wake(0), wake(1), wake(1)])).toEqual(Array(4).fill({ acked: 1 }))
    for (let wakes = 0; wakes < 10 && (await batchOf(id)).status !== 'completed'; wakes++) await wake(wakes % 2)
    const batch = await batchOf(id)
    expect(batch).toMatchObject({
      status: 'completed',
      request_counts: { total: REQUESTS, completed: REQUESTS, failed: 0 },
    })
    // An event has six connections that wait for an answer, and the stores need some.
    for (const isolate of [0, 1]) expect(await (await at(isolate, '/most')).json()).toBeLessThanOrEqual(4)
    const content = await (await at(1, `/v1/files/${batch.output_file_id}/content`)).text()
    expect(
      content
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).custom_id),
    ).toEqual(Array.from({ length: REQUESTS }, (_, item) => `r-${item}`))
    expect(await upstream.calls('batched-at-the-edge')).toHaveLength(REQUESTS)
    const { rows } = await sql.query('SELECT call_id FROM gateway_spend WHERE batch_id = $1', [id])
    expect(rows).toHaveLength(REQUESTS)
  })

  it('are found by the clock when every wake-up got lost, and after an isolate ended in the middle', async () => {
    const id = await make(60)
    const before = (await upstream.calls('batched-at-the-edge')).length
    await upstream.script('/idle', [change(json(200, { data: [] }), slowHeaders({ ms: 300 }))])
    void at(1, '/scheduled').catch(() => {})
    await upstream.until('batched-at-the-edge', (calls) => calls.length > before + 5, 30_000)
    // Checks of idle deployments and items together leave connections to the stores.
    expect(await upstream.arrivals('/idle', (found) => found.length > 0)).toHaveLength(8)
    expect(await (await at(1, '/most')).json()).toBeLessThanOrEqual(4)
    await isolates[1]?.stop()
    const { rows } = await sql.query("SELECT item FROM gateway_batch_item WHERE batch_id = $1 AND state = 'open'", [id])
    await sql.query("UPDATE gateway_batch_item SET due_at = now() WHERE state = 'open'")
    for (let ticks = 0; ticks < 10 && (await batchOf(id)).status !== 'completed'; ticks++) {
      await at(0, '/wake', { method: 'POST' })
    }
    expect(await batchOf(id)).toMatchObject({ status: 'completed', request_counts: { completed: 60, failed: 0 } })
    const calls = (await upstream.calls('batched-at-the-edge')).length - before
    expect(calls).toBeLessThanOrEqual(60 + rows.length)
    const { rows: spend } = await sql.query('SELECT call_id FROM gateway_spend WHERE batch_id = $1', [id])
    expect(spend).toHaveLength(60)
  })
})
