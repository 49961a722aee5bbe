import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { itemRecords } from '../../../src/stores/sql/batches/item-records.ts'
import { type BatchPlace, isOver, startBatchPlace } from '../../support/batch-workers.node.ts'

const postgresUrl = inject('postgresUrl')
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const LATE = { timeout: 10_000 }
const LEASE = { most: 16, except: [], leaseSeconds: 30 }

describe.skipIf(!postgresUrl)('processes that share batches', () => {
  let place: BatchPlace
  beforeEach(async () => {
    place = await startBatchPlace(postgresUrl)
  })
  afterEach(() => place?.close())

  it('run each item once between them', async () => {
    const id = await place.batch({ id: 'batch_shared', requests: 600 })
    place.provider = async () => {
      await wait(3)
      return {}
    }
    const both = [place.services(), place.services()]
    for (const { batchWorker } of both) batchWorker.start()
    const batch = await place.until(id, isOver)
    expect(batch).toMatchObject({ completed: 600, failed: 0 })
    expect(place.asked).toHaveLength(600)
    expect(new Set(place.asked).size).toBe(600)
    const claims = await place.query<{ count: number }>(
      'SELECT count(DISTINCT call_id)::int AS count FROM gateway_spend WHERE batch_id = $1',
      id,
    )
    expect(claims).toEqual([{ count: 600 }])
  })

  it('serve a small batch soon that comes after a large one of somebody else', async () => {
    place.provider = async () => {
      await wait(10)
      return {}
    }
    place.services().batchWorker.start()
    const large = await place.batch({ id: 'batch_large', requests: 3000, keyId: await place.key() })
    await expect.poll(() => place.asked.length, LATE).toBeGreaterThan(100)
    const small = await place.batch({ id: 'batch_small', requests: 10, keyId: await place.key() })
    const before = place.asked.length
    await place.until(small, isOver)
    const last = place.asked.findLastIndex((text) => text.startsWith(small))
    expect(last - before, 'what of the large one went before').toBeLessThan(1500)
    const [row] = await place.query<{ completed: number }>(
      'SELECT completed FROM gateway_batch WHERE batch_id = $1',
      large,
    )
    expect(row?.completed).toBeLessThan(3000)
    await place.query(
      "UPDATE gateway_batch SET status = 'cancelling', outcome = 'cancelled' WHERE batch_id = $1",
      large,
    )
  })

  it('take over what another one has left, and what that one says later is not heard', async () => {
    const id = await place.batch({ id: 'batch_fenced', requests: 3 })
    const slow = itemRecords(place.sql)
    const claim = await slow.claim('slow', LEASE)
    expect(claim?.items.map(({ item }) => item)).toEqual([0, 1, 2])
    expect(await slow.claim('other', LEASE)).toBeUndefined()
    await place.query("UPDATE gateway_batch_item SET due_at = now() - interval '1 s'")
    const late = (claim?.items ?? []).map((item) => ({
      ...item,
      customId: 'late',
      failed: false,
      status: 200,
      errorCode: null,
      callId: 'late',
      model: 'late',
      inputTokens: 1000,
      cachedInputTokens: 0,
      outputTokens: 1000,
      reasoningTokens: 0,
      costNano: 1,
      text: '{}',
    }))
    const again = await itemRecords(place.sql).claim('again', { ...LEASE, most: 2 })
    expect(again?.items.map(({ item }) => item)).toEqual([0, 1])
    // The third one is nobody else's yet, and its batch goes on.
    expect(await slow.complete(late)).toEqual([{ batchId: id, item: 2 }])
    await slow.renew(claim?.items ?? [], 3600)
    await slow.release((claim?.items ?? []).map((item) => ({ ...item, delayMs: 0, lastError: 'late' })))
    const items = await place.query<{ token: string | null; last_error: string | null; kept: boolean }>(
      "SELECT token, last_error, due_at < now() + interval '1 minute' AS kept FROM gateway_batch_item WHERE item < 2",
    )
    expect(items).toEqual(Array(2).fill({ token: 'again', last_error: null, kept: true }))
    await itemRecords(place.sql).release((again?.items ?? []).map((item) => ({ ...item, delayMs: 0, lastError: null })))
    place.services().batchWorker.start()
    const batch = await place.until(id, isOver)
    expect(batch).toMatchObject({ completed: 3, input_tokens: '1020' })
    expect(place.asked.toSorted()).toEqual([`${id}-0`, `${id}-1`])
  })

  it('hear nothing of a lease that has ended once the batch is to end', async () => {
    const id = await place.batch({ id: 'batch_ending', requests: 2 })
    const records = itemRecords(place.sql)
    const claim = await records.claim('slow', LEASE)
    await place.query("UPDATE gateway_batch SET status = 'cancelling', outcome = 'cancelled' WHERE batch_id = $1", id)
    await place.query("UPDATE gateway_batch_item SET due_at = now() - interval '1 s'")
    await records.renew(claim?.items ?? [], 30)
    const [open] = await place.query<{ over: boolean }>('SELECT due_at < now() AS over FROM gateway_batch_item')
    expect(open).toEqual({ over: true })
    expect(await records.claim('other', LEASE)).toBeUndefined()
  })

  it('give back what does not end in time when they are stopped; what ends in time is recorded', async () => {
    const id = await place.batch({ id: 'batch_stopped', requests: 100 })
    const slow = Promise.withResolvers<void>()
    place.provider = async (text) => {
      if (text === `${id}-3`) await slow.promise
      else await wait(20)
      return {}
    }
    const first = place.services()
    first.batchWorker.start()
    await expect.poll(() => place.asked.length, LATE).toBeGreaterThan(20)
    await first.batchWorker.stop(700)
    const asked = place.asked.length
    const open = await place.query<{ item: number; token: string | null; due: boolean; tries: number }>(
      "SELECT item, token, due_at <= now() AS due, tries FROM gateway_batch_item WHERE state = 'open'",
    )
    expect(open.every(({ token, due, tries }) => token === null && due && tries === 0)).toBe(true)
    expect(open.map(({ item }) => item)).toContain(3)
    const [batch] = await place.query<{ completed: number }>('SELECT completed FROM gateway_batch')
    expect(batch?.completed).toBe(asked - 1)
    slow.resolve()
    place.services().batchWorker.start()
    expect(await place.until(id, isOver)).toMatchObject({ completed: 100, failed: 0 })
    // The one that was given back is asked again.
    expect(place.asked).toHaveLength(101)
    const [spent] = await place.query<{ count: number }>('SELECT count(*)::int AS count FROM gateway_spend')
    expect(spent?.count).toBe(100)
  })
})
