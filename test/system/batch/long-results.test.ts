import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { contentKey, errorFileId, outputFileId, resultKey } from '../../../src/batch/batch-ids.ts'
import { type BatchPlace, isOver, startBatchPlace } from '../../support/batch-workers.node.ts'

const postgresUrl = inject('postgresUrl')
const LATE = { timeout: 10_000 }
const ITEMS = 100
const LONG = 'long '.repeat(80_000)

describe.skipIf(!postgresUrl)('results that are too long for the database', () => {
  let place: BatchPlace
  beforeEach(async () => {
    place = await startBatchPlace(postgresUrl)
    place.provider = (text) => ({ content: `${text} ${LONG}` })
  })
  afterEach(() => place?.close())

  const named = () => place.query('SELECT * FROM gateway_batch_blob')
  /** A process that dies before it records anything. */
  const dying = () =>
    place.services({
      sql: (sql) => ({
        ...sql,
        query: (statement) =>
          statement.sql.includes('INSERT INTO gateway_batch_result') ? new Promise(() => {}) : sql.query(statement),
      }),
    })
  const left = async (id: string) => (await place.stored()).filter((key) => key.startsWith(`batches/${id}/`))

  it('are in the files in order, and nowhere else', async () => {
    place.provider = (text) => ({ content: text.endsWith('3') ? text : `${text} ${LONG}` })
    const id = await place.batch({ id: 'batch_long', requests: ITEMS })
    place.services().batchWorker.start()
    const batch = await place.until(id, isOver)
    expect(batch).toMatchObject({ completed: ITEMS, failed: 0, input_tokens: String(10 * ITEMS) })
    expect(batch.cost_nano).toBe(String(20_000 * ITEMS))
    const lines = (await place.results(id)).map(({ line }) => line)
    expect(lines.map(({ custom_id }) => custom_id)).toEqual(Array.from({ length: ITEMS }, (_, item) => `${id}-${item}`))
    for (const { custom_id, response } of lines) {
      const content = custom_id.endsWith('3') ? custom_id : `${custom_id} ${LONG}`
      expect(response?.body).toMatchObject({ choices: [{ message: { content } }] })
    }
    await expect.poll(() => left(id), LATE).toEqual([])
    expect(await place.query('SELECT FROM gateway_batch_result')).toEqual([])
  })

  it.each(['cancelled', 'expired'] as const)(
    'leave nothing of a process that died, in a batch that is %s',
    async (outcome) => {
      const id = await place.batch({ id: `batch_${outcome}`, requests: 40 })
      const dead = dying()
      dead.batchWorker.start()
      await expect.poll(async () => (await left(id)).length, LATE).toBe(16)
      await dead.batchWorker.stop(0)
      await place.query(`UPDATE gateway_batch_item SET due_at = now() - interval '1 s', token = 'dead'`)
      const changes = {
        cancelled: "status = 'cancelling', outcome = 'cancelled', cancelling_at = now()",
        expired: 'expires_at = now()',
      }
      await place.query(`UPDATE gateway_batch SET ${changes[outcome]}`)
      place.services().batchWorker.start()
      expect(await place.until(id, isOver)).toMatchObject({ status: outcome, completed: 0, failed: 40 })
      await expect.poll(() => left(id), LATE).toEqual([])
      expect((await place.stored()).toSorted()).toEqual(
        [contentKey(errorFileId(id)), contentKey(`file-${id}`)].toSorted(),
      )
    },
  )

  it('leave nothing of a process that died, where another one has a short result', async () => {
    const id = await place.batch({ id: 'batch_again', requests: 1 })
    const dead = dying()
    dead.batchWorker.start()
    await expect.poll(async () => (await left(id)).length, LATE).toBe(1)
    await dead.batchWorker.stop(0)
    await place.query('UPDATE gateway_batch_item SET due_at = now()')
    place.provider = () => ({ content: 'short' })
    place.services().batchWorker.start()
    expect(await place.until(id, isOver)).toMatchObject({ status: 'completed', completed: 1 })
    expect(await place.results(id)).toMatchObject([
      { line: { response: { body: { choices: [{ message: { content: 'short' } }] } } } },
    ])
    await expect.poll(() => left(id), LATE).toEqual([])
  })

  it('that come after the end of their batch are removed, too', async () => {
    const id = await place.batch({ id: 'batch_late', requests: 1 })
    const late = Promise.withResolvers<void>()
    const slow = place.services({
      blobs: {
        ...place.blobs,
        async put(key, ...more) {
          if (key === resultKey(id, 0)) await late.promise
          return place.blobs.put(key, ...more)
        },
      },
    })
    slow.batchWorker.start()
    await expect.poll(() => place.asked.length, LATE).toBe(1)
    await place.query("UPDATE gateway_batch SET status = 'cancelling', outcome = 'cancelled', cancelling_at = now()")
    await place.query("UPDATE gateway_batch_item SET due_at = now() - interval '1 s'")
    place.services().batchWorker.start()
    await place.until(id, isOver)
    await expect.poll(named, LATE).toEqual([])
    late.resolve()
    await expect.poll(() => left(id), LATE).toHaveLength(1)
    await slow.batchWorker.stop(2000)
    // Whoever starts looks for what others have left.
    place.services().batchWorker.start()
    await expect.poll(() => left(id), LATE).toEqual([])
    await expect.poll(named, LATE).toEqual([])
  })

  it('are tried to be stored with pauses, and go into the database at last', async () => {
    const id = await place.batch({ id: 'batch_full', requests: 1 })
    const tries: number[] = []
    const full = {
      ...place.blobs,
      async put(key: string, ...more: [Uint8Array | ReadableStream<Uint8Array>, string]) {
        if (key !== resultKey(id, 0)) return place.blobs.put(key, ...more)
        tries.push(performance.now())
        throw new Error('the disk is full')
      },
    }
    place.services({ blobs: full }).batchWorker.start()
    await place.until(id, isOver)
    const pauses = tries.slice(1).map((at, index) => at - (tries[index] as number))
    expect(pauses.length).toBeGreaterThanOrEqual(2)
    for (const [index, pauseMs] of pauses.entries()) expect(pauseMs).toBeGreaterThan(90 * 2 ** index)
    const [result] = await place.results(id)
    expect(result?.line.response?.body).toMatchObject({ choices: [{ message: { content: `${id}-0 ${LONG}` } }] })
    expect((await place.stored()).toSorted()).toEqual(
      [contentKey(`file-${id}`), contentKey(outputFileId(id))].toSorted(),
    )
  })
})
