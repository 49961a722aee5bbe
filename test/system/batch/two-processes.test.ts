import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { type GatewayProcess, type Place, place } from '../../runtimes/node/gateway-process.ts'
import { ended, makeBatch, startUpstream } from '../../support/batch-processes.node.ts'
import { configuration } from '../../support/configuration.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'

const [postgresUrl, redisUrl] = [inject('postgresUrl'), inject('redisUrl')]
const ITEMS = 600
const CONCURRENCY = 8

describe.skipIf(!postgresUrl || !redisUrl)(
  'two processes over one database and one folder, of which one is stopped',
  () => {
    let upstream: Awaited<ReturnType<typeof startUpstream>>
    let home: Place
    let sql: pg.Pool
    let first: GatewayProcess
    let second: GatewayProcess
    beforeAll(async () => {
      upstream = await startUpstream(100)
    })
    afterAll(() => upstream?.close())
    beforeEach(async () => {
      upstream.reset()
      home = await place()
      const database = await preparedDatabase(postgresUrl)
      sql = new pg.Pool({ connectionString: database, max: 2 })
      first = await start(database, 'first')
      second = await start(database, 'second')
    })
    afterEach(async () => {
      await home.clear()
      await sql.end()
    })

    /** A process whose calls the provider tells from those of the other. */
    async function start(database: string, name: string): Promise<GatewayProcess> {
      const yaml = configuration({
        general_settings: {
          database_url: database,
          redis_url: redisUrl,
          embeddings_batch_enabled: true,
          batch_concurrency: CONCURRENCY,
        },
        model_list: [
          {
            model_name: 'm',
            gateway_params: { model: 'openai-compatible/m', api_base: `${upstream.url}/${name}/v1`, api_key: 'sk-1' },
            model_info: { input_cost_per_token: 0.000001, output_cost_per_token: 0.000001 },
          },
        ],
      })
      const env = { GATEWAY_SALT_KEY: 'salt-of-the-two-8c1fa0b2e4', GATEWAY_DRAIN_SECONDS: '1' }
      const gateway = await home.start({ yaml, env })
      await gateway.greeted()
      return gateway
    }

    /** One that had nothing to do looks every few seconds. */
    const bothRunning = () =>
      expect.poll(() => new Set(upstream.paths.slice(-CONCURRENCY)).size, { timeout: 15_000, interval: 20 }).toBe(2)

    async function expectWhole(id: string): Promise<void> {
      const batch = await ended(second, id)
      expect(batch).toMatchObject({
        status: 'completed',
        request_counts: { total: ITEMS, completed: ITEMS, failed: 0 },
      })
      const content = await (await second.fetch(`/v1/files/${batch.output_file_id}/content`)).text()
      expect(
        content
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line).custom_id),
      ).toEqual(Array.from({ length: ITEMS }, (_, at) => `r-${at}`))
      const { rows } = await sql.query('SELECT call_id FROM gateway_spend WHERE batch_id = $1', [id])
      expect(rows).toHaveLength(ITEMS)
    }

    it('has its items finished by it; the other one does the rest', { timeout: 60_000 }, async () => {
      const id = await makeBatch(first, ITEMS)
      await bothRunning()
      expect(new Set(upstream.paths)).toEqual(new Set(['first', 'second']))
      first.kill('SIGTERM')
      expect(await first.ended).toEqual({ code: 0, signal: null })
      const left = await sql.query("SELECT token FROM gateway_batch_item WHERE state = 'open' AND token IS NOT NULL")
      // The other one's, with those that it has claimed ahead.
      expect(left.rows.length).toBeLessThanOrEqual(3 * CONCURRENCY)
      await expectWhole(id)
      expect(upstream.asked).toHaveLength(ITEMS)
    })

    it('gives back at once what does not end in time', { timeout: 60_000 }, async () => {
      const id = await makeBatch(first, ITEMS)
      await bothRunning()
      upstream.silent.add('first')
      await expect.poll(() => upstream.unanswered, { interval: 20 }).toBeGreaterThan(0)
      first.kill('SIGTERM')
      expect(await first.ended).toMatchObject({ signal: null })
      const stoppedAt = performance.now()
      await expectWhole(id)
      // Its leases would have lasted for half a minute.
      expect(performance.now() - stoppedAt).toBeLessThan(25_000)
      expect(upstream.asked.length).toBeGreaterThan(ITEMS)
      expect(upstream.asked.length).toBeLessThanOrEqual(ITEMS + CONCURRENCY)
    })
  },
)
