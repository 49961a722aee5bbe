import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { place } from '../../runtimes/node/gateway-process.ts'
import { ended, makeBatch, startUpstream } from '../../support/batch-processes.node.ts'
import { configuration } from '../../support/configuration.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'

const [postgresUrl, redisUrl] = [inject('postgresUrl'), inject('redisUrl')]

/** More of both is asked for by hand: BATCH_ITEMS=5000 BATCH_KILLS=20. Then leases end by themselves, too. */
const ITEMS = Number(process.env.BATCH_ITEMS ?? 300)
const KILLS = Number(process.env.BATCH_KILLS ?? 3)
const HURRIED = process.env.BATCH_ITEMS === undefined
const CONCURRENCY = 16
const ANSWER_MS = 20

/** What becomes of messages that wake the worker of batches. */
const QUEUES = {
  'every message once': '',
  'no message': `
    CREATE FUNCTION of_message() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
    CREATE TRIGGER dropped BEFORE INSERT ON gateway_queue FOR EACH ROW EXECUTE FUNCTION of_message()`,
  'every message three times': `
    CREATE FUNCTION of_message() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO gateway_queue (topic, body, due_at) SELECT NEW.topic, NEW.body, NEW.due_at FROM generate_series(1, 2);
      RETURN NULL;
    END $$;
    CREATE TRIGGER thrice AFTER INSERT ON gateway_queue FOR EACH ROW WHEN (pg_trigger_depth() = 0)
      EXECUTE FUNCTION of_message()`,
} as const

describe.skipIf(!postgresUrl || !redisUrl)('a batch whose process is killed again and again', () => {
  let upstream: Awaited<ReturnType<typeof startUpstream>>
  beforeAll(async () => {
    upstream = await startUpstream(ANSWER_MS)
  })
  afterAll(() => upstream?.close())

  it.each(Object.entries(QUEUES))(
    'has each result and each cost once: %s',
    { timeout: 600_000 },
    async (_, trigger) => {
      const home = await place()
      const database = await preparedDatabase(postgresUrl)
      const sql = new pg.Pool({ connectionString: database, max: 2 })
      upstream.reset()
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
            gateway_params: { model: 'openai-compatible/m', api_base: `${upstream.url}/v1`, api_key: 'sk-1' },
            model_info: { input_cost_per_token: 0.000001, output_cost_per_token: 0.000001 },
          },
        ],
      })
      const env = { GATEWAY_SALT_KEY: 'salt-of-the-killed-4f19b2c7d0' }
      try {
        let gateway = await home.start({ yaml, env })
        await gateway.greeted()
        if (trigger !== '') await sql.query(trigger)
        const id = await makeBatch(gateway, ITEMS)
        let [repeated, before] = [0, 0]
        for (let kill = 1; kill <= KILLS; kill++) {
          await upstream.until((ITEMS * kill) / (KILLS + 1) + Math.random() * 20)
          gateway.kill('SIGKILL')
          await gateway.ended
          const running = await unrecorded(sql, upstream.asked.slice(before))
          before = upstream.asked.length
          // Those that ran, and those that had ended within the last moment.
          expect(running).toBeLessThanOrEqual(3 * CONCURRENCY)
          repeated += running
          if (HURRIED) await sql.query("UPDATE gateway_batch_item SET due_at = now() WHERE state = 'open'")
          gateway = await home.start({ yaml, env })
          await gateway.base()
        }
        const batch = await ended(gateway, id)
        expect(batch).toMatchObject({
          status: 'completed',
          request_counts: { total: ITEMS, completed: ITEMS, failed: 0 },
        })
        const content = await (await gateway.fetch(`/v1/files/${batch.output_file_id}/content`)).text()
        const lines = content.trimEnd().split('\n')
        expect(lines.map((line) => JSON.parse(line).custom_id)).toEqual(
          Array.from({ length: ITEMS }, (_, at) => `r-${at}`),
        )
        const { rows: spend } = await sql.query('SELECT call_id, batch_id FROM gateway_spend')
        expect(spend).toHaveLength(ITEMS)
        expect(spend.every((row) => row.batch_id === id)).toBe(true)
        expect(upstream.asked.length).toBeLessThanOrEqual(ITEMS + repeated)
        process.stdout.write(
          `${ITEMS} items, ${KILLS} kills: ${upstream.asked.length} calls, ${repeated} ran at the kills\n`,
        )
      } finally {
        await home.clear()
        await sql.end()
      }
    },
  )
})

/** How many of what was asked has no result. */
async function unrecorded(sql: pg.Pool, asked: readonly string[]): Promise<number> {
  const { rows } = await sql.query<{ item: number }>("SELECT item FROM gateway_batch_item WHERE state = 'open'")
  const open = new Set(rows.map(({ item }) => `r-${item}`))
  return asked.filter((text) => open.has(text)).length
}
