import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { preparedDatabase } from '../../support/prepared-database.ts'
import { readStream } from '../../support/sse.ts'
import {
  answer,
  cutAfter,
  reset,
  serverError,
  silence,
  slowBetween,
  slowHeaders,
} from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import { type GatewayProcess, type Place, place } from './gateway-process.ts'

const postgresUrl = inject('postgresUrl')
const upstream = upstreamClient(inject('upstreamUrl'))
const TEXT = 'One two three four five six seven eight nine ten.'
const MODEL = `ledger-${process.pid}`

interface Row {
  readonly request_id: string
  readonly ending: string
  readonly status: number
  readonly streamed: boolean
  readonly estimated: boolean
  readonly attempts: number
  readonly input_tokens: string
  readonly output_tokens: string
  readonly cost_nano: string | null
}

describe.skipIf(!postgresUrl)('the ledger of a process', () => {
  let here: Place
  let databaseUrl: string
  let database: pg.Client
  beforeAll(async () => {
    here = await place()
    databaseUrl = await preparedDatabase(postgresUrl)
    database = new pg.Client({ connectionString: databaseUrl })
    await database.connect()
  })
  afterEach(() => here.end())
  afterAll(async () => {
    await database.end()
    await here.clear()
  })

  const yaml = (extra = '') => `
general_settings: { database_url: '${databaseUrl}' }
router_settings: { num_retries: 1, retry_after: 0.01, timeout: 30 }
model_list:
  - model_name: group
    gateway_params: { model: openai-compatible/${MODEL}, api_base: '${upstream.url}/v1', api_key: sk-x }
    model_info: { input_cost_per_token: 0.000001, output_cost_per_token: 0.000002 }
${extra}`
  const rows = async (like: string) =>
    (await database.query<Row>('SELECT * FROM gateway_spend WHERE request_id LIKE $1 ORDER BY request_id', [like])).rows

  async function start(): Promise<GatewayProcess> {
    const gateway = await here.start({ yaml: yaml() })
    await gateway.greeted()
    return gateway
  }
  const chat = (gateway: GatewayProcess, requestId: string, body: object = {}, signal?: AbortSignal) =>
    gateway.chat({ model: 'group', ...body }, { headers: { 'x-request-id': requestId }, ...(signal ? { signal } : {}) })

  it('has every call that was answered before SIGTERM, those of the last moment and those that still ran, too', async () => {
    await upstream.script(MODEL, [answer({ text: TEXT })])
    const gateway = await start()
    const answered = new Set<string>()
    let stopped = false
    const workers = Array.from({ length: 8 }, async (_, worker) => {
      for (let index = 0; !stopped; index++) {
        const id = `term-${worker}-${index}`
        try {
          const response = await chat(gateway, id, { stream: index % 2 === 0 })
          await response.text()
          if (response.status === 200) answered.add(id)
        } catch {
          stopped = true
        }
      }
    })
    await expect.poll(() => answered.size, { timeout: 20_000 }).toBeGreaterThan(300)
    gateway.kill('SIGTERM')
    await Promise.all(workers)
    expect(await gateway.ended).toEqual({ code: 0, signal: null })
    const written = await rows('term-%')
    expect(written.map(({ request_id }) => request_id)).toEqual([...answered].sort())
  }, 60_000)

  it('lacks at most what the last second brought, when the process is killed', async () => {
    await upstream.script(MODEL, [answer({ text: TEXT })])
    const gateway = await start()
    const answeredAt = new Map<string, number>()
    let killed = false
    const workers = Array.from({ length: 8 }, async (_, worker) => {
      for (let index = 0; !killed; index++) {
        const id = `kill-${worker}-${index}`
        try {
          const response = await chat(gateway, id)
          await response.text()
          answeredAt.set(id, Date.now())
        } catch {
          killed = true
        }
      }
    })
    await wait(2500)
    gateway.kill('SIGKILL')
    const killedAt = Date.now()
    await Promise.all(workers)
    const written = new Set((await rows('kill-%')).map(({ request_id }) => request_id))
    const lost = [...answeredAt].filter(([id, at]) => !written.has(id) && at < killedAt - 1000)
    expect(answeredAt.size).toBeGreaterThan(100)
    expect(lost).toEqual([])
  }, 60_000)

  it('agrees with what the provider served, call by call, through errors, cuts and clients that leave', async () => {
    const usage = { prompt_tokens: 100, completion_tokens: 40, total_tokens: 140 }
    const cost = 100 * 1000 + 40 * 2000
    const gateway = await start()
    const tell = (...behaviours: Parameters<typeof upstream.script>[1]) => upstream.script(MODEL, behaviours)
    const plain = answer({ text: TEXT, usage })

    await tell(plain)
    await (await chat(gateway, 'run-1-whole')).json()
    await readStream(await chat(gateway, 'run-2-stream', { stream: true }))
    await tell(serverError(), plain)
    await (await chat(gateway, 'run-3-retried')).json()
    await tell(reset(), reset(), serverError())
    expect((await chat(gateway, 'run-4-failed')).status).toBe(502)
    await tell(answer({ text: TEXT, usage: 'missing' }))
    await readStream(await chat(gateway, 'run-5-untold', { stream: true }))
    await tell(answer({ text: TEXT, usage: 'missing' }, cutAfter({ frames: 6 })))
    await readStream(await chat(gateway, 'run-6-cut', { stream: true }))
    await tell(answer({ text: TEXT, usage }, slowBetween({ ms: 200 })))
    await readStream(await chat(gateway, 'run-7-left', { stream: true }), { leaveAfter: 4 })
    await tell(answer({ text: TEXT, usage }, slowHeaders({ ms: 1500 })))
    const leaving = new AbortController()
    const pending = chat(gateway, 'run-8-pending', {}, leaving.signal)
    await wait(300)
    leaving.abort()
    await expect(pending).rejects.toThrow()
    await tell(silence())
    expect((await gateway.chat({ model: 'nobody' }, { headers: { 'x-request-id': 'run-9-refused' } })).status).toBe(404)
    await expect.poll(async () => (await rows('run-%')).length, { timeout: 10_000 }).toBe(8)
    gateway.kill('SIGTERM')
    await gateway.ended

    const [whole, stream, retried, failed, untold, cut, left, waiting] = await rows('run-%')
    const told = { input_tokens: '100', output_tokens: '40', cost_nano: String(cost), estimated: false }
    expect(whole).toMatchObject({ ...told, ending: 'answered', status: 200, streamed: false, attempts: 1 })
    expect(stream).toMatchObject({ ...told, ending: 'answered', status: 200, streamed: true, attempts: 1 })
    expect(retried).toMatchObject({ ...told, ending: 'answered', attempts: 2 })
    expect(failed).toMatchObject({ ending: 'failed', status: 502, cost_nano: '0', input_tokens: '0', attempts: 2 })
    const estimate = (row: Row | undefined) => Number(row?.input_tokens) * 1000 + Number(row?.output_tokens) * 2000
    const seen = Math.floor(TEXT.length / 4)
    for (const [row, ending, most] of [
      [untold, 'answered', seen],
      [cut, 'truncated', seen],
      // Whoever does not wait for the end pays for what such answers usually use, seen or not.
      [left, 'client_closed', 40],
      [waiting, 'client_closed', 40],
    ] as const) {
      expect(row).toMatchObject({ ending, estimated: true, cost_nano: String(estimate(row)) })
      expect(Number(row?.output_tokens)).toBeGreaterThan(0)
      expect(Number(row?.output_tokens)).toBeLessThanOrEqual(most)
    }
    const sums = await database.query(
      `SELECT sum(cost_nano) AS sum FROM gateway_spend_rollup WHERE grain = 'hour' AND deployment = 'group-1'
       UNION ALL SELECT sum(cost_nano) FROM gateway_spend`,
    )
    expect(sums.rows[0]).toEqual(sums.rows[1])
  }, 60_000)
})
