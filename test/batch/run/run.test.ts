import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Statement } from '../../../src/stores/sql/sql.ts'
import { type BatchPlace, counting, isOver, startBatchPlace, usualLine } from '../../support/batch-workers.node.ts'

const postgresUrl = inject('postgresUrl')

describe.skipIf(!postgresUrl)('items of a batch', () => {
  let place: BatchPlace
  beforeAll(async () => {
    place = await startBatchPlace(postgresUrl)
  })
  afterAll(() => place?.close())

  const ledgerOf = (batchId: string) =>
    place.query<{ call_id: string; status: number; key_id: string }>(
      'SELECT call_id, status, key_id FROM gateway_spend WHERE batch_id = $1 ORDER BY call_id',
      batchId,
    )

  it('run once each, with a result, a row of the ledger and their cost', async () => {
    const statements: Statement[] = []
    const services = place.services({ sql: (sql) => counting(sql, statements) })
    const keyId = await place.key()
    const id = await place.batch({ id: 'batch_first', requests: 200, keyId })
    services.batchWorker.start()
    const batch = await place.until(id, isOver)
    await services.batchWorker.stop(5000)

    expect(batch).toMatchObject({ outcome: 'completed', completed: 200, failed: 0, next_item: 200, model: 'm' })
    expect(batch).toMatchObject({ input_tokens: '2000', output_tokens: '1000', cost_nano: String(200 * 20_000) })
    const results = await place.results(id)
    expect(results.map(({ item, failed, line }) => [item, failed, line.custom_id])).toEqual(
      Array.from({ length: 200 }, (_, item) => [item, false, `${id}-${item}`]),
    )
    expect(results[7]?.line.response).toMatchObject({
      status_code: 200,
      body: { choices: [{ message: { content: `re ${id}-7` } }] },
    })
    const rows = await ledgerOf(id)
    expect(rows).toHaveLength(200)
    expect(rows.every((row) => row.status === 200 && row.key_id === keyId)).toBe(true)
    expect(place.asked.filter((text) => text.startsWith(`${id}-`))).toHaveLength(200)
    expect(new Set(place.asked).size).toBe(place.asked.length)
    const items = await place.query('SELECT * FROM gateway_batch_item WHERE batch_id = $1 ORDER BY item', id)
    expect(items[70]).toMatchObject({ line: 71, custom_id: `${id}-70`, state: 'completed', status: 200, token: null })
    const own = statements.filter(({ sql }) => /gateway_batch|gateway_spend/.test(sql))
    expect(own.length / 200).toBeLessThanOrEqual(0.4)
  })

  it('are not hedged, since nobody waits for them', async () => {
    const services = place.services()
    place.provider = async () => {
      await new Promise((resolve) => setTimeout(resolve, 100))
      return {}
    }
    const id = await place.batch({
      id: 'batch_slow',
      requests: 3,
      line: (item) => usualLine('batch_slow', item, 'two'),
    })
    services.batchWorker.start()
    expect(await place.until(id, isOver)).toMatchObject({ completed: 3, failed: 0 })
    await services.batchWorker.stop(5000)
    expect(place.asked.filter((text) => text.startsWith(`${id}-`))).toHaveLength(3)
  })

  it('that fail are in the error file, and the others are not hurt', async () => {
    const services = place.services()
    const id = await place.batch({
      id: 'batch_mixed',
      requests: 6,
      line: (item) => (item === 2 ? usualLine('odd', item, 'nothing') : usualLine('batch_mixed', item)),
    })
    place.provider = (text) => (text === 'batch_mixed-4' ? { status: 400 } : {})
    services.batchWorker.start()
    const batch = await place.until(id, isOver)
    await services.batchWorker.stop(5000)
    expect(batch).toMatchObject({ completed: 4, failed: 2, outcome: 'completed' })
    const results = await place.results(id)
    expect(results.map(({ failed }) => failed)).toEqual([false, false, true, false, true, false])
    expect(results[2]?.line).toMatchObject({ custom_id: 'odd-2', error: null, response: { status_code: 404 } })
    expect(results[4]?.line).toMatchObject({ custom_id: 'batch_mixed-4', response: { status_code: 400 } })
    expect((await ledgerOf(id)).map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 400])
  })
})
