import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { type BatchPlace, isOver, startBatchPlace } from '../../support/batch-workers.node.ts'
import { freshDatabase, type PostgresServer, startPostgres } from '../../support/postgres.ts'

/** A longer one, behind which leases have ended by themselves, is asked for by hand: OUTAGE_SECONDS=40. */
const OUTAGE_SECONDS = Number(process.env.OUTAGE_SECONDS ?? 2)
const ITEMS = 400
const CONCURRENCY = 16

/** A database of its own, which is away for a while. */
describe.skipIf(!inject('postgresUrl'))('a batch whose database is away', () => {
  let server: PostgresServer
  let place: BatchPlace
  beforeAll(async () => {
    server = (await startPostgres()) as PostgresServer
  })
  beforeEach(async () => {
    place = await startBatchPlace(server.url, { batch_concurrency: CONCURRENCY }, freshDatabase)
  })
  afterEach(() => place.close())
  afterAll(() => server?.stop())

  it.each([
    ['ended, and is started again', 'halt', 'start'],
    ['stands still, with its connections open', 'freeze', 'thaw'],
  ] as const)(
    'goes on once it is back, with each result and each cost once: it %s',
    {
      timeout: 120_000,
    },
    async (_, begin, end) => {
      const id = await place.batch({ id: `batch_${begin}`, requests: ITEMS })
      place.provider = async () => {
        await wait(20)
        return {}
      }
      place.services().batchWorker.start()
      await place.until(id, ({ completed }) => completed >= ITEMS / 4)
      await server[begin]()
      await wait(1000 * OUTAGE_SECONDS)
      const before = place.asked.length
      await server[end]()
      const batch = await place.until(id, isOver, 90_000)
      expect(batch).toMatchObject({ status: 'completed', completed: ITEMS, failed: 0 })
      expect(batch.cost_nano).toBe(String(ITEMS * 20_000))
      expect((await place.results(id)).map(({ line }) => line.custom_id)).toEqual(
        Array.from({ length: ITEMS }, (_, item) => `${id}-${item}`),
      )
      const spend = await place.query<{ call_id: string }>('SELECT call_id FROM gateway_spend WHERE batch_id = $1', id)
      expect(spend).toHaveLength(ITEMS)
      expect(before).toBeLessThan(ITEMS)
      expect(place.asked.length).toBeLessThanOrEqual(ITEMS + CONCURRENCY)
      if (OUTAGE_SECONDS < 30) expect(place.asked).toHaveLength(ITEMS)
    },
  )
})
