import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { contentKey, outputFileId } from '../../../src/batch/batch-ids.ts'
import { type BatchPlace, isOver, startBatchPlace } from '../../support/batch-workers.node.ts'

const postgresUrl = inject('postgresUrl')
const OWNER = { keyId: 'master_key', teamId: null, organizationId: null, userId: null }
const ITEMS = 300
const CONCURRENCY = 16

describe.skipIf(!postgresUrl)('a batch that ends before its requests', () => {
  let place: BatchPlace
  beforeEach(async () => {
    place = await startBatchPlace(postgresUrl, { batch_concurrency: CONCURRENCY })
    place.provider = async () => {
      await wait(20)
      return {}
    }
  })
  afterEach(() => place?.close())

  it.each(['cancelled', 'expired'] as const)('pays what ran, and calls nothing else: %s at half', async (outcome) => {
    const id = await place.batch({ id: `batch_${outcome}`, requests: ITEMS })
    const services = place.services()
    services.batchWorker.start()
    await place.until(id, ({ completed }) => completed >= ITEMS / 2)
    if (outcome === 'cancelled') await services.records.batches.cancel(id, sql<boolean>`true`)
    else await place.query('UPDATE gateway_batch SET expires_at = now()')
    const asked = place.asked.length
    const batch = await place.until(id, isOver)
    expect(batch.status).toBe(outcome)
    expect(batch.completed).toBeLessThan(ITEMS)
    expect(batch.completed + batch.failed).toBe(ITEMS)
    // What was claimed may have begun until this process has heard of it.
    expect(place.asked.length).toBeLessThanOrEqual(asked + 2 * CONCURRENCY)
    expect(place.asked).toHaveLength(batch.completed)
    const results = await place.results(id)
    expect(results.map(({ line }) => line.custom_id)).toEqual(
      Array.from({ length: ITEMS }, (_, item) => `${id}-${item}`),
    )
    expect(
      results
        .filter(({ failed }) => !failed)
        .map(({ line }) => line.custom_id)
        .toSorted(),
    ).toEqual(place.asked.toSorted())
    expect(new Set(results.flatMap(({ line }) => line.error?.code ?? []))).toEqual(new Set([`batch_${outcome}`]))
    expect(await place.query('SELECT FROM gateway_spend WHERE batch_id = $1', id)).toHaveLength(batch.completed)
    expect(batch.cost_nano).toBe(String(batch.completed * 20_000))
  })

  it('keeps its input until it has ended, whoever deletes it and however long it has expired', async () => {
    const id = await place.batch({ id: 'batch-input', requests: ITEMS })
    const services = place.services()
    const sweep = () => services.files.sweep(new AbortController().signal)
    services.batchWorker.start()
    await place.until(id, ({ completed }) => completed >= ITEMS / 4)
    expect(await services.files.remove(`file-${id}`, OWNER)).toBe('in_use')
    await place.query("UPDATE gateway_file SET expires_at = now() - interval '1 day'")
    await sweep()
    expect(await place.until(id, isOver)).toMatchObject({ status: 'completed', completed: ITEMS })
    expect(await place.results(id)).toHaveLength(ITEMS)
    await sweep()
    expect(await place.stored()).toEqual([contentKey(outputFileId(id))])
    expect(await place.query('SELECT FROM gateway_file')).toHaveLength(1)
  })
})
