import { readFileSync } from 'node:fs'
import OpenAI from 'openai'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chatInit, MASTER_KEY } from '../../support/gateway.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { parsePrometheus } from '../../support/prometheus.ts'
import { workerModules } from './support/built-once.ts'
import { type DevWorker, startDevWorker } from './support/dev-worker.ts'
import { type Edge, edgeExists, startEdge } from './support/edge.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

const MIB = 1024 * 1024
const messages = [{ role: 'user' as const, content: 'Hello there, Zürich 🙂' }]
const authorization = `Bearer ${MASTER_KEY}`

describe.skipIf(!edgeExists())('the worker as it is deployed', () => {
  let edge: Edge
  let worker: DevWorker
  /** A second one with the same Redis and Postgres, as another isolate is. */
  let other: Workerd

  beforeAll(async () => {
    // The worker lays the schema into it.
    edge = await startEdge(freshDatabase)
    worker = await startDevWorker(edge.variables)
    other = await startWorkerd(await workerModules(), edge.variables)
  })
  afterAll(async () => {
    await worker?.stop()
    await other?.stop()
    await edge?.close()
  })

  const ask = (path: string, init: RequestInit = {}, at: { url: string } = worker) =>
    fetch(at.url + path, { ...init, headers: { authorization, ...(init.headers as Record<string, string>) } })
  const chat = (body: unknown, at?: { url: string }) => ask('/v1/chat/completions', chatInit(body), at)
  const metrics = async (at?: { url: string }) => parsePrometheus(await (await ask('/metrics', {}, at)).text())

  it('sets up the schema at its first request, which may need no database', async () => {
    expect((await ask('/v1/models')).status).toBe(200)
    const database = new pg.Client({ connectionString: edge.databaseUrl })
    await database.connect()
    const text = readFileSync('schema.sql', 'utf8')
    const named = [...text.matchAll(/^\s*create table (?:if not exists )?(\w+)/gim)].map((match) => match[1]).sort()
    expect(named.length).toBeGreaterThan(0)
    const tables = async () =>
      (await database.query("select table_name from information_schema.tables where table_schema = 'public'")).rows
        .map((row) => row.table_name)
        .sort()
    try {
      await expect.poll(tables).toEqual(named)
    } finally {
      await database.end()
    }
  })

  it('answers the page of its routes, with the files that it names', async () => {
    const page = await ask('/docs')
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'")
    expect(await page.text()).toContain('<script type="module" src="/docs.js">')
    for (const [file, type] of [
      ['docs.js', 'text/javascript'],
      ['docs.css', 'text/css'],
    ]) {
      const answer = await ask(`/${file}`)
      expect(answer.headers.get('content-type')).toContain(type)
      expect(await answer.text()).toBe(readFileSync(`src/console/public/${file}`, 'utf8'))
    }
  })

  it('serves the official openai client', async () => {
    const client = new OpenAI({ apiKey: MASTER_KEY, baseURL: `${worker.url}/v1`, maxRetries: 0 })
    const names = []
    for await (const { id } of client.models.list()) names.push(id)
    expect(names).toContain('echo')

    const whole = await client.chat.completions.create({ model: 'echo', messages })
    expect(whole.choices[0]?.message.content).toBe(messages[0]?.content)
    expect(whole.usage?.total_tokens).toBeGreaterThan(0)

    const stream = await client.chat.completions.create({ model: 'echo', messages, stream: true })
    const pieces = []
    for await (const chunk of stream) pieces.push(chunk.choices[0]?.delta.content ?? '')
    expect(pieces.join('')).toBe(messages[0]?.content)
    expect(pieces.filter((piece) => piece !== '').length).toBeGreaterThan(2)
  })

  it('tells the audit of a write in the administration, through the queue', async () => {
    const body = JSON.stringify({ team_id: 'of-the-worker', rpm_limit: 5, metadata: { 'é 😀': '\u0000' } })
    const headers = { 'content-type': 'application/json' }
    expect((await ask('/ui/api/teams', { method: 'POST', body, headers })).status).toBe(201)
    const told = async () => {
      const answered = await ask('/ui/api/audit/events?resource_id=of-the-worker')
      return ((await answered.json()) as { data: unknown[] }).data
    }
    await expect.poll(told, { timeout: 10_000 }).toMatchObject([
      {
        action: 'team.create',
        actor_type: 'master_key',
        status: 201,
        changes: { rpm_limit: { old: null, new: 5 }, metadata: { new: { 'é 😀': '\u0000' } } },
      },
    ])
  })

  it('answers its files without the worker', async () => {
    const robots = await fetch(`${worker.url}/robots.txt`)
    expect([robots.status, await robots.text()]).toEqual([200, 'User-agent: *\nDisallow: /\n'])
  })

  it('is healthy', async () => {
    const ready = { status: 'ok', checks: { redis: true, database: true } }
    const health = await fetch(`${worker.url}/health`)
    expect([health.status, await health.json()]).toEqual([200, { liveliness: 'ok', readiness: ready }])
    const liveliness = await fetch(`${worker.url}/health/liveliness`)
    expect([liveliness.status, await liveliness.text()]).toEqual([200, 'ok'])
    const readiness = await fetch(`${worker.url}/health/readiness`)
    expect([readiness.status, await readiness.json()]).toEqual([200, ready])
  })

  it.each(['closed', 'stalled'] as const)('is not ready while a store is %s, and says which', async (line) => {
    for (const [store, check] of [
      ['redis', 'redis'],
      ['postgres', 'database'],
    ] as const) {
      await edge[store].set(line)
      const startedAt = performance.now()
      const response = await fetch(`${worker.url}/health/readiness`)
      expect(performance.now() - startedAt).toBeLessThan(5000)
      expect(response.status).toBe(503)
      expect(await response.json()).toEqual({
        status: 'unavailable',
        checks: { redis: true, database: true, [check]: false },
      })
      await edge[store].set('open')
      await expect.poll(async () => (await fetch(`${worker.url}/health/readiness`)).status).toBe(200)
    }
  })

  it('counts over all isolates, on the page of any of them', async () => {
    const served = { model: 'echo', provider: 'echo', status_code: '200', key_id: 'master_key' }
    const refused = { model: '', status_code: '404' }
    const counts = async (at: { url: string }) => {
      const page = await metrics(at)
      return [
        page.value('gateway_requests_total', served) ?? 0,
        page.value('gateway_requests_total', refused) ?? 0,
        page.total('gateway_input_tokens_total', { model: 'echo' }),
        page.total('gateway_request_total_latency_seconds_count', { model: 'echo' }),
      ] as const
    }
    const [before, refusedBefore, inputBefore, timedBefore] = await counts(worker)
    let inputTokens = 0
    for (const at of [worker, worker, worker, other, other]) {
      const { usage } = (await (await chat({ model: 'echo', messages }, at)).json()) as OpenAI.ChatCompletion
      inputTokens += usage?.prompt_tokens as number
    }
    await (await chat({ model: 'nowhere', messages }, worker)).text()
    await (await chat({ model: 'nowhere', messages }, other)).text()
    // What no settlement carries is sent on once a second, or when its own isolate shows the page.
    await metrics(worker)
    await metrics(other)
    const after = [before + 5, refusedBefore + 2, inputBefore + inputTokens, timedBefore + 5]
    for (const at of [worker, other]) await expect.poll(() => counts(at)).toEqual(after)
    expect((await metrics()).value('gateway_deployment_active_requests', { deployment: 'echo-1' })).toBe(0)
  })

  describe('answers in the one error shape', () => {
    const chunked = (bytes: number) =>
      new ReadableStream({
        pull(controller) {
          if (bytes <= 0) return controller.close()
          controller.enqueue(new Uint8Array(MIB).fill(0x20))
          bytes -= MIB
        },
      })
    const json = { 'content-type': 'application/json' }
    const post = (body: BodyInit, headers: Record<string, string> = json) =>
      ask('/v1/chat/completions', { method: 'POST', headers, body, duplex: 'half' } as RequestInit)

    it.each<[string, () => Promise<Response>, number, object]>([
      ['malformed JSON', () => chat('{"model":'), 400, { type: 'invalid_request_error', code: 'invalid_json' }],
      ['a missing field', () => chat({ model: 'echo' }), 400, { param: 'messages' }],
      ['another media type', () => post('model=echo', { 'content-type': 'text/plain' }), 415, {}],
      ['an unknown model', () => chat({ model: 'no', messages }), 404, { code: 'model_not_found', param: 'model' }],
      ['an unknown path', () => ask('/v1/nowhere'), 404, { type: 'not_found_error' }],
      ['a wrong method', () => ask('/v1/chat/completions'), 405, { code: 'method_not_allowed' }],
      ['a body that says it is too large', () => post(new Uint8Array(33 * MIB)), 413, { code: 'payload_too_large' }],
      ['one that does not say so', () => post(chunked(33 * MIB)), 413, { code: 'payload_too_large' }],
      ['no key', () => fetch(`${worker.url}/v1/models`), 401, { code: 'missing_api_key' }],
      [
        'a bad key',
        () => fetch(`${worker.url}/v1/models`, { headers: { authorization: 'Bearer sk-bad' } }),
        401,
        { type: 'authentication_error', code: 'invalid_api_key' },
      ],
    ])('%s', async (_, send, status, expected) => {
      const response = await send()
      expect(response.status).toBe(status)
      expect(response.headers.get('content-type')).toMatch(/^application\/json/)
      expect(response.headers.get('x-request-id')).toMatch(/^req_/)
      const { error, ...rest } = (await response.json()) as { error: Record<string, unknown> }
      expect(rest).toEqual({})
      expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type'])
      expect(error).toMatchObject(expected)
    })
  })
})
