import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { freshDatabase, type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { answer } from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import { type GatewayProcess, type Place, place } from './gateway-process.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const MODEL = `ledger-outage-${process.pid}`
const USAGE = { prompt_tokens: 100, completion_tokens: 40, total_tokens: 140 }
const COST = 100 * 1000 + 40 * 2000

describe.skipIf(!inject('postgresUrl'))('the ledger of a process whose database is away', () => {
  let server: PostgresServer
  let here: Place
  let databaseUrl: string
  beforeAll(async () => {
    server = (await startPostgres()) as PostgresServer
    await upstream.script(MODEL, [answer({ text: 'One two three.', usage: USAGE })])
  }, 60_000)
  afterEach(async () => {
    await here.clear()
    await server.restore()
  })
  afterAll(() => server.stop())

  async function start(): Promise<GatewayProcess> {
    const gateway = await here.start({
      yaml: `
general_settings: { database_url: '${databaseUrl}' }
model_list:
  - model_name: group
    gateway_params: { model: openai-compatible/${MODEL}, api_base: '${upstream.url}/v1', api_key: sk-x }
    model_info: { input_cost_per_token: 0.000001, output_cost_per_token: 0.000002 }
`,
    })
    await gateway.greeted()
    return gateway
  }

  /** Calls from eight clients until `stop`, and when each was answered. */
  function calling(gateway: GatewayProcess) {
    const answeredAt = new Map<string, number>()
    let stopped = false
    const workers = Array.from({ length: 8 }, async (_, worker) => {
      for (let index = 0; !stopped; index++) {
        const id = `${gateway.pid}-${worker}-${index}`
        try {
          const response = await gateway.chat({ model: 'group' }, { headers: { 'x-request-id': id } })
          await response.text()
          if (response.status === 200) answeredAt.set(id, Date.now())
        } catch {
          stopped = true
        }
      }
    })
    return {
      answeredAt,
      async stop() {
        stopped = true
        await Promise.all(workers)
      },
    }
  }

  async function asking<Result>(ask: (client: pg.Client) => Promise<Result>): Promise<Result> {
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    try {
      return await ask(client)
    } finally {
      await client.end()
    }
  }
  const written = () =>
    asking(async (client) => {
      const { rows } = await client.query<{ request_id: string }>('SELECT request_id FROM gateway_spend ORDER BY 1')
      return rows.map(({ request_id }) => request_id)
    })
  const sums = () =>
    asking(async (client) => {
      const { rows } = await client.query(
        `SELECT sum(calls)::int AS calls, sum(cost_nano)::float AS nano FROM gateway_spend_total
         WHERE dimension = 'all' AND grain = 'hour'`,
      )
      return rows[0]
    })

  it('has every call once when a database that stood still goes on', async () => {
    here = await place()
    databaseUrl = await freshDatabase(server.url)
    const gateway = await start()
    const calls = calling(gateway)
    await wait(1500)
    await server.freeze()
    const before = calls.answeredAt.size
    await wait(6000)
    expect(calls.answeredAt.size).toBeGreaterThan(before + 20)
    await server.thaw()
    await wait(500)
    await calls.stop()
    const ids = [...calls.answeredAt.keys()].sort()
    await expect.poll(async () => (await written()).length, { timeout: 20_000 }).toBe(ids.length)
    expect(await written()).toEqual(ids)
    expect(await sums()).toEqual({ calls: ids.length, nano: ids.length * COST })
    const metrics = await (await gateway.fetch('/metrics')).text()
    expect(metrics).toMatch(/gateway_records_kept_total\{topic="ledger"\} [1-9]/)
    expect(metrics).toMatch(/gateway_records_dropped_total\{topic="ledger"\} 0/)
  }, 90_000)

  it('has every call of a process that was asked to end meanwhile, as soon as the next one has begun', async () => {
    here = await place()
    databaseUrl = await freshDatabase(server.url)
    const gateway = await start()
    const calls = calling(gateway)
    await wait(1000)
    await server.halt()
    await wait(2000)
    gateway.kill('SIGTERM')
    await calls.stop()
    expect(await gateway.ended).toEqual({ code: 0, signal: null })
    expect(gateway.logged('records.lost')).toEqual([])
    await server.start()
    await start()
    const ids = [...calls.answeredAt.keys()].sort()
    await expect.poll(written, { timeout: 20_000 }).toEqual(ids)
    expect(await sums()).toEqual({ calls: ids.length, nano: ids.length * COST })
  }, 90_000)

  it('lacks at most what the last second brought of a process that was killed meanwhile', async () => {
    here = await place()
    databaseUrl = await freshDatabase(server.url)
    const gateway = await start()
    const calls = calling(gateway)
    await wait(1000)
    await server.freeze()
    await wait(3000)
    gateway.kill('SIGKILL')
    const killedAt = Date.now()
    await calls.stop()
    await server.thaw()
    await start()
    const early = [...calls.answeredAt].filter(([, at]) => at < killedAt - 1000).map(([id]) => id)
    const late = new Set(calls.answeredAt.keys())
    expect(early.length).toBeGreaterThan(5)
    await expect
      .poll(
        async () => {
          const found = new Set(await written())
          return early.filter((id) => !found.has(id))
        },
        { timeout: 20_000 },
      )
      .toEqual([])
    const ids = await written()
    expect(new Set(ids).size).toBe(ids.length)
    // Beyond what was answered, only what was just being answered.
    expect(ids.filter((id) => !late.has(id)).length).toBeLessThanOrEqual(8)
    expect(await sums()).toEqual({ calls: ids.length, nano: ids.length * COST })
  }, 90_000)
})
