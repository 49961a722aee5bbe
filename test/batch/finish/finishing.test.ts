import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorFileId, outputFileId, resultKey } from '../../../src/batch/batch-ids.ts'
import { type FinishingServices, finishing } from '../../../src/batch/finish/finishing.ts'
import { answeredLine } from '../../../src/batch/result-line.ts'
import { digestOf } from '../../../src/lib/crypto.ts'
import { jsonLog } from '../../../src/lib/log.ts'
import { loadConfig } from '../../../src/routing/configuration.ts'
import { finishRecords } from '../../../src/stores/sql/batches/finish-records.ts'
import { queries, rowsOf } from '../../../src/stores/sql/query.ts'
import type { TelemetryEvent } from '../../../src/telemetry/events.ts'
import { type BatchPlace, batchPlace } from '../../support/batch-place.node.ts'

const YAML = 'model_list: [{ model_name: m, gateway_params: { model: echo/m } }]'

const isBlob = (result: unknown): result is { body: ReadableStream } =>
  typeof result === 'object' && result !== null && 'body' in result

type Standing = 'completed' | 'failed' | 'blob' | 'failed blob' | 'running' | 'lost' | 'waiting' | 'fresh'

describe('the files of batches', () => {
  let place: BatchPlace
  let services: FinishingServices
  const told: TelemetryEvent[] = []
  let now = Date.now()
  const going = new AbortController().signal

  beforeAll(async () => {
    place = await batchPlace()
    services = {
      config: loadConfig(YAML, { GATEWAY_MASTER_KEY: 'sk-master-of-these-tests-0001' }),
      records: finishRecords(place.sql),
      blobs: place.blobs,
      clock: { now: () => now },
      telemetry: { emit: (event) => void told.push(event), settledCounters: () => ({}) },
      log: jsonLog('silent', () => {}),
    }
  })
  afterAll(() => place.close())

  const idOf = (at: number) => `id-${at}`
  const resultOf = (batchId: string, at: number) =>
    answeredLine({ batchId, item: at, customId: idOf(at) }, { status: 200, requestId: `r${at}`, body: `{"at":${at}}` })

  /** A batch whose requests stand like this. */
  async function plant(standing: readonly Standing[], outcome: 'completed' | 'expired' | 'cancelled'): Promise<string> {
    const lines = standing.map((_, at) => JSON.stringify({ custom_id: idOf(at), body: { text: 'ü'.repeat(at % 7) } }))
    const input = `${lines.join('\r\n\n')}\n`
    const encoded = lines.map((line) => new TextEncoder().encode(line).byteLength)
    const checkpoints: { offset: number; line: number }[] = []
    let offset = 0
    for (const [at, length] of encoded.entries()) {
      if (at % 64 === 0) checkpoints.push({ offset, line: 2 * at + 1 })
      offset += length + 3
    }
    const claimed = standing.findLastIndex((one) => one !== 'fresh') + 1
    const id = await place.plant(input, {
      status: outcome === 'cancelled' ? 'cancelling' : 'finalizing',
      outcome,
      ...(outcome === 'cancelled' ? { cancelling_at: sql`now()` } : { finalizing_at: sql`now()` }),
      requests: standing.length,
      checkpoints: JSON.stringify(checkpoints),
      next_item: claimed,
      completed: standing.filter((one) => one === 'completed' || one === 'blob').length,
      failed: standing.filter((one) => one.startsWith('failed')).length,
    })
    for (const [item, one] of standing.entries()) {
      if (item >= claimed) break
      const isOpen = one === 'running' || one === 'lost' || one === 'waiting'
      const soon = sql<string>`now() + interval '20 seconds'`
      await rowsOf(
        place.sql,
        queries.insertInto('gateway_batch_item').values({
          batch_id: id,
          item,
          state: isOpen ? 'open' : one.startsWith('failed') ? 'failed' : 'completed',
          token: one === 'running' || one === 'lost' ? 'theirs' : null,
          due_at: one === 'lost' ? sql<string>`now() - interval '1 second'` : soon,
        }),
      )
      if (isOpen) continue
      const text = resultOf(id, item)
      if (one.endsWith('blob')) {
        await place.blobs.put(resultKey(id, item), new TextEncoder().encode(text), 'application/json')
        await rowsOf(place.sql, queries.insertInto('gateway_batch_blob').values({ batch_id: id, item }))
      }
      await rowsOf(
        place.sql,
        queries.insertInto('gateway_batch_result').values({
          batch_id: id,
          item,
          failed: one.startsWith('failed'),
          text: one.endsWith('blob') ? null : text,
        }),
      )
    }
    return id
  }

  const linesOf = async (fileId: string | null) =>
    fileId === null ? null : ((await place.text(fileId)) ?? '').split('\n').slice(0, -1)
  const neverRan = (batchId: string, at: number, code: string) => ({
    id: expect.stringContaining(`_${at}`),
    custom_id: idOf(at),
    response: null,
    error: { code, message: expect.any(String) },
    batchId,
  })
  const results = async (id: string) =>
    rowsOf(place.sql, queries.selectFrom('gateway_batch_result').select('item').where('batch_id', '=', id))
  const step = (more: Partial<FinishingServices> = {}) => finishing({ ...services, ...more }).step(going)

  it.each([
    [7200, 7200],
    [null, 30 * 86_400],
    [31 * 86_400, 30 * 86_400],
  ])('are kept for as long as their batch says (%s), and no longer than all', async (asked, kept) => {
    const id = await plant(['completed', 'failed'], 'completed')
    await rowsOf(
      place.sql,
      queries.updateTable('gateway_batch').set({ output_seconds: asked }).where('batch_id', '=', id),
    )
    expect(await step()).toBe(true)
    const files = queries
      .selectFrom('gateway_file')
      .select(sql<number>`extract(epoch FROM expires_at - created_at)::integer`.as('kept'))
      .where('file_id', 'in', [outputFileId(id), errorFileId(id)])
    expect(await rowsOf(place.sql, files)).toEqual([{ kept }, { kept }])
  })

  it('hold the results in the order of the input, long ones among them, and nothing else is left', async () => {
    const standing: Standing[] = ['completed', 'failed', 'blob', 'completed', 'failed blob', 'completed']
    const id = await plant(standing, 'completed')
    expect(await step()).toBe(true)
    const batch = await place.batch(id)
    expect(batch).toMatchObject({
      status: 'completed',
      output_file_id: outputFileId(id),
      error_file_id: errorFileId(id),
      requests: 6,
      completed: 4,
      failed: 2,
      expired_at: null,
      cancelled_at: null,
    })
    expect(batch.completed_at).not.toBeNull()
    expect(await linesOf(batch.output_file_id)).toEqual([0, 2, 3, 5].map((at) => resultOf(id, at)))
    expect(await linesOf(batch.error_file_id)).toEqual([1, 4].map((at) => resultOf(id, at)))
    expect(await results(id)).toEqual([])
    for (const at of [2, 4]) expect(await place.blobs.get(resultKey(id, at))).toBeUndefined()
    const files = await rowsOf(
      place.sql,
      queries
        .selectFrom('gateway_file')
        .select(['file_id', 'purpose', 'bytes', 'sha256', 'lines', 'state', 'key_id'])
        .where('file_id', 'in', [outputFileId(id), errorFileId(id)])
        .orderBy('lines', 'desc'),
    )
    const text = (await place.text(outputFileId(id))) as string
    expect(files).toMatchObject([
      {
        purpose: 'batch_output',
        state: 'ready',
        key_id: 'master_key',
        lines: 4,
        bytes: String(text.length),
        sha256: digestOf(text),
      },
      { purpose: 'batch_output', state: 'ready', key_id: 'master_key', lines: 2 },
    ])
    expect(await step()).toBe(false)
    expect(told.filter((event) => event.type === 'batch.finished' && event.batchId === id)).toEqual([
      {
        type: 'batch.finished',
        at: expect.any(String),
        batchId: id,
        status: 'completed',
        endpoint: batch.endpoint,
        keyId: 'master_key',
        teamId: '',
        organizationId: '',
        userId: '',
        requests: 6,
        completed: 4,
        failed: 2,
        costNano: 0,
        createdAt: new Date(batch.created_at).toISOString(),
      },
    ])
  })

  it('are not there where they would be empty', async () => {
    const good = await plant(['completed'], 'completed')
    const bad = await plant(['failed'], 'completed')
    const never = await plant([], 'cancelled')
    for (let at = 0; at < 3; at++) expect(await step()).toBe(true)
    expect(await place.batch(good)).toMatchObject({ output_file_id: outputFileId(good), error_file_id: null })
    expect(await place.batch(bad)).toMatchObject({ output_file_id: null, error_file_id: errorFileId(bad) })
    expect(await place.batch(never)).toMatchObject({
      status: 'cancelled',
      output_file_id: null,
      error_file_id: null,
      requests: 0,
    })
    expect(await place.text(outputFileId(never))).toBeUndefined()
  })

  it.each([
    ['expired', 'batch_expired'],
    ['cancelled', 'batch_cancelled'],
  ] as const)('name the requests that never ran, of a batch that was %s', async (outcome, code) => {
    const standing = Array.from({ length: 300 }, (_, at): Standing => {
      if (at < 100) return at % 10 === 3 ? 'failed' : 'completed'
      if (at < 140) return (['waiting', 'completed', 'lost', 'failed', 'blob'] as const)[at % 5] as Standing
      return 'fresh'
    })
    const id = await plant(standing, outcome)
    await step()
    const batch = await place.batch(id)
    const unrun = (one: Standing) => one === 'waiting' || one === 'lost' || one === 'fresh'
    const well = standing.flatMap((one, at) => (one === 'completed' || one === 'blob' ? [at] : []))
    expect(batch).toMatchObject({ status: outcome, completed: well.length, failed: 300 - well.length, requests: 300 })
    expect(batch[`${outcome}_at`]).not.toBeNull()
    expect(await linesOf(batch.output_file_id)).toEqual(well.map((at) => resultOf(id, at)))
    const errors = (await linesOf(batch.error_file_id))?.map((line) => ({ ...JSON.parse(line), batchId: id }))
    expect(errors).toEqual(
      standing.flatMap((one, at) => {
        if (one === 'failed') return [{ ...JSON.parse(resultOf(id, at)), batchId: id }]
        return unrun(one) ? [neverRan(id, at, code)] : []
      }),
    )
  })

  it('name them by number alone where the input file is gone', async () => {
    const id = await plant(['completed', 'fresh', 'fresh'], 'expired')
    const { input_file_id } = await place.batch(id)
    await place.blobs.remove(`files/${input_file_id}`)
    await step()
    const errors = (await linesOf(errorFileId(id)))?.map((line) => JSON.parse(line))
    expect(errors).toMatchObject([
      { id: expect.stringMatching(/_1$/), custom_id: null, error: { code: 'batch_expired' } },
      { id: expect.stringMatching(/_2$/), custom_id: null, error: { code: 'batch_expired' } },
    ])
  })

  it('say so where the blob of a result is lost', async () => {
    const id = await plant(['blob'], 'completed')
    await place.blobs.remove(resultKey(id, 0))
    await step()
    expect(await place.text(outputFileId(id))).toContain('"result_lost"')
  })

  it('wait for what still runs, and take the claim of what was killed', async () => {
    const id = await plant(['completed', 'running', 'lost'], 'cancelled')
    expect(await step()).toBe(false)
    expect((await place.batch(id)).status).toBe('cancelling')
    await rowsOf(
      place.sql,
      queries.updateTable('gateway_batch_item').set({ due_at: sql<string>`now()` }).where('batch_id', '=', id),
    )
    expect(await step()).toBe(true)
    expect(await place.batch(id)).toMatchObject({ status: 'cancelled', completed: 1, failed: 2 })
    const tokens = await rowsOf(
      place.sql,
      queries
        .selectFrom('gateway_batch_item')
        .select('token')
        .where('batch_id', '=', id)
        .where('token', 'is not', null),
    )
    expect(tokens).toEqual([])
  })

  it.each([
    ['before', false],
    ['after', true],
  ])(
    'are the same, wherever everything begins to fail, %s a thing was done',
    { timeout: 60_000 },
    async (_when, isAfter) => {
      const standing: Standing[] = ['blob', 'failed', 'completed', 'waiting', 'failed blob', 'completed', 'fresh']
      const id = await plant(standing, 'expired')
      let left = 0
      let done = 0
      const failing = async <Result>(work: () => Promise<Result>): Promise<Result> => {
        const at = done++
        if (at > left || (at === left && !isAfter)) throw new Error('it broke before')
        const result = await work()
        if (at < left) return result
        if (isBlob(result)) await result.body.cancel()
        throw new Error('it broke after')
      }
      const broken: FinishingServices = {
        ...services,
        records: finishRecords({ ...place.sql, query: (statement) => failing(() => place.sql.query(statement)) }),
        blobs: {
          put: (...given) => failing(() => place.blobs.put(...given)),
          get: (...given) => failing(() => place.blobs.get(...given)),
          remove: (key) => failing(() => place.blobs.remove(key)),
        },
      }
      for (; (await place.batch(id)).status === 'finalizing'; left++) {
        done = 0
        await step(broken).catch(() => {})
        expect(done).toBeGreaterThan(left)
        await place.change(id, { lease_until: sql`now()` })
      }
      expect(left).toBeGreaterThan(10)
      // What a process that was killed behind the end has left is found later.
      now += 3_600_001
      await step()
      const batch = await place.batch(id)
      expect(batch).toMatchObject({ status: 'expired', completed: 3, failed: 4 })
      // Who died between the end and telling of it told nobody.
      expect(told.filter((event) => event.type === 'batch.finished' && event.batchId === id).length).toBeLessThan(2)
      expect(await linesOf(batch.output_file_id)).toEqual([0, 2, 5].map((at) => resultOf(id, at)))
      const errors = (await linesOf(batch.error_file_id))?.map((line) => JSON.parse(line).custom_id)
      expect(errors).toEqual([1, 3, 4, 6].map(idOf))
      expect(await results(id)).toEqual([])
      for (const at of [0, 4]) expect(await place.blobs.get(resultKey(id, at))).toBeUndefined()
    },
  )

  it('are tried again after a pause, by one process at a time', async () => {
    const id = await plant(['completed'], 'completed')
    const broken = { ...place.blobs, put: () => Promise.reject(new Error('the disk is full')) }
    expect(await step({ blobs: broken })).toBe(true)
    expect(await step()).toBe(false)
    await place.change(id, { lease_until: sql`now()` })
    const lease = await services.records.lease('killed')
    expect(lease?.batch_id).toBe(id)
    expect(await step()).toBe(false)
    await place.change(id, { lease_until: sql`now()` })
    expect(await step()).toBe(true)
    expect((await place.batch(id)).status).toBe('completed')
    const nothing = { output: undefined, errors: undefined }
    expect(await services.records.end({ batchId: id, token: 'killed' }, nothing, 30)).toBeUndefined()
    expect((await place.batch(id)).output_file_id).toBe(outputFileId(id))
    expect(told.filter((event) => event.type === 'batch.finished' && event.batchId === id)).toHaveLength(1)
  })

  it('are written from pages of a few megabytes', async () => {
    const id = await plant([], 'completed')
    const text = 'x'.repeat(200_000)
    await rowsOf(
      place.sql,
      sql`INSERT INTO gateway_batch_result SELECT ${id}, item, false, ${text} || item FROM generate_series(0, 99) AS item`,
    )
    await place.change(id, { requests: 100, next_item: 100, completed: 100 })
    const pages: number[] = []
    const records = {
      ...services.records,
      async results(...given: Parameters<typeof services.records.results>) {
        const page = await services.records.results(...given)
        pages.push(page.length)
        return page
      },
    }
    await step({ records })
    expect(pages.filter((length) => length > 0)).toEqual([21, 21, 21, 21, 16])
    const written = (await linesOf(outputFileId(id)))?.map((line) => line.slice(200_000))
    expect(written).toEqual(Array.from({ length: 100 }, (_, at) => String(at)))
  })
})
