import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chatInit, MASTER_KEY } from '../../support/gateway.ts'
import { ACCOUNT, type LogStorage, startLogStorage } from '../../support/log-storage.node.ts'
import { type SinkReceiver, startSinkReceiver } from '../../support/sink-receiver.node.ts'
import { workerModules } from './support/built-once.ts'
import { type DevWorker, startDevWorker } from './support/dev-worker.ts'
import { type Edge, edgeExists, startEdge } from './support/edge.ts'
import { withConfig } from './support/worker-modules.ts'

const GATHERED = 'queue = "gateway-logs"\nmax_batch_size = 100\nmax_batch_timeout = 60'

it('the queue of logs gathers for a minute', () => {
  expect(readFileSync('wrangler.toml', 'utf8')).toContain(GATHERED)
})

describe.skipIf(!edgeExists())('sinks over the queues of wrangler.toml', { timeout: 60_000 }, () => {
  let edge: Edge
  let worker: DevWorker
  let receiver: SinkReceiver
  let logs: LogStorage

  beforeAll(async () => {
    edge = await startEdge()
    receiver = await startSinkReceiver()
    logs = await startLogStorage()
    const yaml = `
gateway_settings:
  success_callback: [webhook, otel, s3]
  callback_settings:
    webhook: { url: '${receiver.url}/hook', secret: whsec_${btoa('a secret of twenty-four bytes')}, events: [call.finished] }
    s3: { bucket: logs, region: ${ACCOUNT.region}, prefix: live, compression: zstd, endpoint: '${logs.endpoint}', access_key_id: ${ACCOUNT.accessKeyId}, secret_access_key: ${ACCOUNT.secretAccessKey}, session_token: ${ACCOUNT.sessionToken} }
model_list: [{ model_name: m, gateway_params: { model: echo/m } }]`
    const variables = {
      ...edge.variables,
      OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/otel`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=seven',
      OTEL_METRICS_EXPORTER: 'none',
    }
    // A test does not wait for a minute.
    const sooner = (toml: string) => toml.replace(GATHERED, GATHERED.replace('60', '3'))
    worker = await startDevWorker(variables, withConfig(await workerModules(), yaml), sooner)
  })
  afterAll(async () => {
    await worker?.stop()
    await receiver?.close()
    logs?.close()
    await edge?.close()
  })

  async function call(): Promise<string> {
    const init = chatInit({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] })
    const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${MASTER_KEY}` }
    const answered = await fetch(`${worker.url}/v1/chat/completions`, { ...init, headers })
    expect(answered.status).toBe(200)
    return (await answered.json()).id
  }
  const hooks = () =>
    receiver.received
      .filter(({ path }) => path === '/hook')
      .map(({ headers, body }) => ({ id: headers['webhook-id'], callId: JSON.parse(String(body)).data.call_id }))

  it('delivers calls, again where a far end was away, and in one object what came while it gathered', async () => {
    let refusals = 2
    receiver.answer(({ path }) => ({ status: path === '/hook' && refusals-- > 0 ? 503 : 200 }))
    for (let count = 0; count < 3; count++) await call()
    // Two were refused: each comes again by itself, under the id that it had.
    await expect.poll(() => new Set(hooks().map(({ id }) => id)).size, { timeout: 15_000 }).toBe(3)
    await expect.poll(() => hooks().length, { timeout: 15_000 }).toBe(5)
    const ids = hooks().map(({ callId }) => callId)
    expect(hooks().map(({ id }) => id)).toEqual(ids)

    const exported = () => receiver.received.filter(({ path }) => path.startsWith('/otel/'))
    const told = (path: string) =>
      exported()
        .filter((one) => one.path === path)
        .map(({ body }) => JSON.parse(gunzipSync(body).toString()))
    await expect
      .poll(() => told('/otel/v1/logs').flatMap(({ resourceLogs }) => resourceLogs[0].scopeLogs[0].logRecords).length)
      .toBe(3)
    const spans = told('/otel/v1/traces').flatMap(({ resourceSpans }) => resourceSpans[0].scopeSpans[0].spans)
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(3)
    expect(new Set(exported().map(({ headers }) => headers['x-tenant']))).toEqual(new Set(['seven']))
    expect(exported().some(({ path }) => path.endsWith('metrics'))).toBe(false)

    await expect.poll(() => logs.stored('live/').length, { timeout: 15_000 }).toBeGreaterThan(0)
    const rows = (await Promise.all(logs.stored('live/').map(logs.rowsOf))).flat()
    expect(rows.map(({ call_id }) => call_id).sort()).toEqual([...new Set(ids)].sort())
    expect(logs.stored('live/')[0]).toMatch(/\.jsonl\.zst$/)
    expect(rows[0]).toMatchObject({ schema_version: 1, model: 'm', status: 200 })
    // All of one hour, unless the hour ended meanwhile.
    expect(logs.stored('live/')).toHaveLength(new Set(rows.map(({ at }) => at.slice(0, 13))).size)
  })

  it('delivers a test at once, past the queue', async () => {
    const headers = { authorization: `Bearer ${MASTER_KEY}` }
    const before = receiver.received.length
    const answered = await fetch(`${worker.url}/ui/api/callbacks/webhook/test`, { method: 'POST', headers })
    expect(answered.status).toBe(200)
    expect(receiver.received.length).toBeGreaterThan(before)
  })
})
