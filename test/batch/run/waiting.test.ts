import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import type { Services } from '../../../src/services.ts'
import { type Sql, SqlError } from '../../../src/stores/sql/sql.ts'
import { type BatchPlace, isOver, startBatchPlace, usualLine } from '../../support/batch-workers.node.ts'

const postgresUrl = inject('postgresUrl')
const LATE = { timeout: 10_000 }
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe.skipIf(!postgresUrl)('items of a batch that cannot run now', () => {
  let place: BatchPlace
  beforeEach(async () => {
    place = await startBatchPlace(postgresUrl)
  })
  afterEach(() => place?.close())

  /** What waits is due at once. */
  async function hurry(): Promise<void> {
    await place.query("UPDATE gateway_batch_item SET due_at = now() WHERE state = 'open' AND token IS NULL")
    await place.query("UPDATE gateway_batch SET due_at = now() WHERE status = 'in_progress'")
  }
  const hurrying = (services: Services) => {
    const timer = setInterval(() => void hurry().then(services.batchWorker.wake, () => {}), 100)
    return () => clearInterval(timer)
  }
  const ledgerOf = (batchId: string) =>
    place.query<{ call_id: string; status: number }>('SELECT * FROM gateway_spend WHERE batch_id = $1', batchId)

  it('wait for a provider that has too much to do, and fail with its answer after five tries', async () => {
    const id = await place.batch({ id: 'batch_storm', requests: 40 })
    // Every other request is refused twice; one is never served.
    const refused = new Map<string, number>()
    place.provider = (text) => {
      const times = refused.get(text) ?? 0
      refused.set(text, times + 1)
      const isOdd = Number(text.slice(id.length + 1)) % 2 === 1
      return { status: text === `${id}-5` || (isOdd && times < 2) ? 429 : 200 }
    }
    const services = place.services()
    services.batchWorker.start()
    const stop = hurrying(services)
    const batch = await place.until(id, isOver)
    stop()
    expect(batch).toMatchObject({ status: 'completed', completed: 39, failed: 1 })
    const results = await place.results(id)
    expect(results.map(({ item }) => item)).toEqual(Array.from({ length: 40 }, (_, item) => item))
    expect(results[5]?.line.response).toMatchObject({ status_code: 429 })
    expect(place.asked.filter((text) => text === `${id}-5`)).toHaveLength(5)
    expect(await ledgerOf(id)).toHaveLength(40)
    const [item] = await place.query('SELECT tries, error_code FROM gateway_batch_item WHERE item = 5')
    expect(item).toMatchObject({ tries: 4 })
  })

  it('fail with the refusal of a key that is revoked meanwhile; what was done stays', async () => {
    const keyId = await place.key()
    const id = await place.batch({ id: 'batch_revoked', requests: 60, keyId })
    place.provider = async () => {
      if (place.asked.length === 20) {
        await place.query('UPDATE gateway_key SET revoked_at = now(), version = version + 100 WHERE key_id = $1', keyId)
        const [row] = await place.query<{ version: string }>('SELECT version FROM gateway_key WHERE key_id = $1', keyId)
        await services.store.publish({
          records: [{ record: `key:${keyId}`, version: Number(row?.version) }],
          removed: [],
        })
      }
      await wait(5)
      return {}
    }
    const services = place.services()
    services.batchWorker.start()
    const batch = await place.until(id, isOver)
    expect(batch.completed + batch.failed).toBe(60)
    expect(batch.completed).toBeLessThan(60)
    const results = await place.results(id)
    expect(results).toHaveLength(60)
    for (const { line } of results.filter(({ failed }) => failed)) {
      expect(line.response).toMatchObject({ status_code: 401, body: { error: { code: 'invalid_api_key' } } })
      expect(line.custom_id).toMatch(/^batch_revoked-\d+$/)
    }
    expect(place.asked).toHaveLength(batch.completed)
  })

  it('wait for a budget, and go on when it is raised', async () => {
    const keyId = await place.key({ max_budget: 0.0005 })
    const id = await place.batch({ id: 'batch_budget', requests: 60, keyId })
    const services = place.services()
    services.batchWorker.start()
    await place.until(id, ({ completed }) => completed >= 5)
    await expect
      .poll(
        async () => (await place.query("SELECT FROM gateway_batch WHERE due_at > now() + interval '5 s'")).length,
        LATE,
      )
      .toBe(1)
    const [waiting] = await place.query<{ last_error: string }>(
      "SELECT last_error FROM gateway_batch_item WHERE state = 'open' AND last_error IS NOT NULL LIMIT 1",
    )
    expect(waiting?.last_error).toContain('budget_exceeded')
    const [row] = await place.query<{ version: string }>(
      "UPDATE gateway_key SET max_budget = 10, version = nextval('gateway_record_version') RETURNING version",
    )
    await services.store.publish({ records: [{ record: `key:${keyId}`, version: Number(row?.version) }], removed: [] })
    const stop = hurrying(services)
    const batch = await place.until(id, isOver)
    stop()
    expect(batch).toMatchObject({ completed: 60, failed: 0 })
    expect(await ledgerOf(id)).toHaveLength(60)
    const tries = await place.query('SELECT FROM gateway_batch_item WHERE tries > 0')
    expect(tries).toHaveLength(0)
  })

  it('go on one after the other where a budget has room for no more, without the one that it never has room for', async () => {
    const keyId = await place.key({ max_budget: 0.00085 })
    const line = (item: number) =>
      item === 3
        ? usualLine('batch_narrow', item).replace('"model"', '"max_tokens":4000,"model"')
        : usualLine('batch_narrow', item)
    const id = await place.batch({ id: 'batch_narrow', requests: 41, keyId, line })
    place.provider = async () => {
      await wait(20)
      return {}
    }
    place.services().batchWorker.start()
    const batch = await place.until(id, isOver, 18_000)
    expect(batch).toMatchObject({ completed: 40, failed: 1, cost_nano: '800000' })
    expect(await ledgerOf(id)).toHaveLength(40)
    const { line: dear } = (await place.results(id))[3] ?? {}
    expect(dear?.response).toMatchObject({ status_code: 429, body: { error: { param: 'key_budget' } } })
  })

  it('leave a tenth of a limit to other calls of the key', async () => {
    const keyId = await place.key({ rpm_limit: 50 })
    const id = await place.batch({ id: 'batch_window', requests: 60, keyId })
    place.services().batchWorker.start()
    await place.until(id, ({ completed }) => completed >= 40)
    await expect
      .poll(
        async () => (await place.query("SELECT FROM gateway_batch WHERE due_at > now() + interval '5 s'")).length,
        LATE,
      )
      .toBe(1)
    await wait(300)
    // Until the window of the limit ends, and no longer.
    expect(await place.query("SELECT FROM gateway_batch WHERE due_at > now() + interval '61 s'")).toEqual([])
    const [batch] = await place.query<{ completed: number }>('SELECT completed FROM gateway_batch')
    expect(batch?.completed).toBeGreaterThanOrEqual(44)
    expect(batch?.completed).toBeLessThanOrEqual(45)
    expect(place.asked).toHaveLength(batch?.completed as number)
  })

  it.each([
    ['takes no writes', '25006'],
    ['refuses the login', '28P01'],
    ['cannot read its disk', '58030'],
    ['lacks what a later build has made', '42P01'],
  ])('keep the results of paid calls while the database %s', async (_, code) => {
    const id = await place.batch({ id: 'batch_standby', requests: 20 })
    let refused = 0
    const standby =
      <Given, Result>(work: (given: Given) => Promise<Result>) =>
      async (given: Given) => {
        if (place.asked.length === 0 || refused >= 12) return work(given)
        refused += 1
        throw new SqlError('the database does not take this', code)
      }
    const services = place.services({
      sql: (sql) => ({ ...sql, query: standby(sql.query) as Sql['query'], batch: standby(sql.batch) }),
    })
    services.batchWorker.start()
    expect(await place.until(id, isOver)).toMatchObject({ status: 'completed', completed: 20, failed: 0 })
    expect(refused).toBe(12)
    expect(place.asked).toHaveLength(20)
    expect((await place.results(id)).every(({ line }) => line.response?.status_code === 200)).toBe(true)
    expect(await ledgerOf(id)).toHaveLength(20)
  })

  it('are ended with their batch when its time is over; what runs then still counts', async () => {
    const release = Promise.withResolvers<void>()
    const id = await place.batch({ id: 'batch_late', requests: 40 })
    place.provider = async () => {
      await release.promise
      return {}
    }
    place.services().batchWorker.start()
    await expect.poll(() => place.asked.length, LATE).toBe(16)
    await place.query("UPDATE gateway_batch SET expires_at = now() - interval '1 s'")
    await place.until(id, ({ status }) => status === 'finalizing')
    release.resolve()
    const batch = await place.until(id, isOver)
    expect(batch).toMatchObject({ status: 'expired', completed: 16, failed: 24 })
    expect(place.asked).toHaveLength(16)
    const results = await place.results(id)
    expect(results.filter(({ failed }) => failed).map(({ line }) => line.error?.code)).toEqual(
      Array(24).fill('batch_expired'),
    )
    expect(await ledgerOf(id)).toHaveLength(16)
  })

  it('are left alone once their batch is cancelled', async () => {
    const release = Promise.withResolvers<void>()
    const id = await place.batch({ id: 'batch_off', requests: 40 })
    place.provider = async () => {
      await release.promise
      return {}
    }
    place.services().batchWorker.start()
    await expect.poll(() => place.asked.length, LATE).toBe(16)
    await place.query("UPDATE gateway_batch SET status = 'cancelling', outcome = 'cancelled', cancelling_at = now()")
    release.resolve()
    const batch = await place.until(id, isOver)
    expect(batch).toMatchObject({ status: 'cancelled', completed: 16 })
    expect(place.asked).toHaveLength(16)
    expect(await place.results(id)).toHaveLength(40)
  })
})
