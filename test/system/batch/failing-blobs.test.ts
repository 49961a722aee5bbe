import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { newBatchId, outputFileId } from '../../../src/batch/batch-ids.ts'
import { GatewayError } from '../../../src/lib/errors.ts'
import type { Services } from '../../../src/services.ts'
import { type BatchPlace, isOver, startBatchPlace, usualLine } from '../../support/batch-workers.node.ts'
import { failingBlobs } from '../../support/failing-blobs.ts'

const postgresUrl = inject('postgresUrl')
const OWNER = { keyId: 'master_key', teamId: null, organizationId: null, userId: null }
const ITEMS = 300
const LONG = 'long '.repeat(80_000)
const isLong = (item: number) => item % 6 === 1
const itemOf = (text: string) => Number(text.slice(text.lastIndexOf('-') + 1))

describe.skipIf(!postgresUrl)('a storage of files that fails every tenth operation', () => {
  let place: BatchPlace
  beforeEach(async () => {
    place = await startBatchPlace(postgresUrl)
  })
  afterEach(() => place?.close())

  /** The id of the file; undefined if it was refused because of the storage. */
  async function upload(services: Services, text: string): Promise<string | undefined> {
    const form = new FormData()
    form.set('purpose', 'batch')
    form.set('file', new Blob([text]), 'in.jsonl')
    const { headers, body } = new Response(form)
    const reader = (body as ReadableStream<Uint8Array>).getReader()
    try {
      const source = { read: async () => (await reader.read()).value, close: () => void reader.cancel() }
      const contentType = headers.get('content-type') as string
      return (await services.files.receive({ owner: OWNER, source, contentType })).file_id
    } catch (error) {
      if (error instanceof GatewayError && error.failure === 'blobs_unavailable') return undefined
      throw error
    }
  }

  it('refuses an upload, or has all of it', async () => {
    const services = place.services({ blobs: failingBlobs(place.blobs) })
    const text = `${usualLine('x', 0)}\n`.repeat(2000)
    const uploads: (string | undefined)[] = []
    for (let count = 0; count < 40; count++) uploads.push(await upload(services, text))
    const kept = uploads.filter((id) => id !== undefined)
    expect(kept.length).toBeGreaterThanOrEqual(35)
    expect(kept.length).toBeLessThan(40)
    await services.files.sweep(new AbortController().signal).catch(() => {})
    await services.files.sweep(new AbortController().signal)
    expect((await place.stored()).toSorted()).toEqual(kept.map((id) => `files/${id}`).toSorted())
    const rows = await place.query<{ file_id: string; bytes: string }>('SELECT * FROM gateway_file')
    expect(rows.map(({ file_id }) => file_id).toSorted()).toEqual(kept.toSorted())
    for (const id of kept) {
      const blob = await place.blobs.get(`files/${id}`)
      expect(await new Response(blob?.body).text()).toBe(text)
    }
  })

  it('delays a batch, and neither loses nor doubles anything of it', { timeout: 40_000 }, async () => {
    place.provider = (text) => (isLong(itemOf(text)) ? { content: `${text} ${LONG}` } : {})
    const blobs = failingBlobs(place.blobs)
    const services = place.services({ blobs })
    const lines = Array.from({ length: ITEMS }, (_, item) => usualLine('r', item))
    let input: string | undefined
    while (input === undefined) input = await upload(services, `${lines.join('\n')}\n`)
    const id = newBatchId()
    const nothing = { metadata: null, idempotency_key: null, request_hash: null, retry_of: null, output_seconds: null }
    const made = { batch_id: id, endpoint: '/v1/chat/completions', input_file_id: input, ...nothing }
    expect(await services.records.batches.create(made, OWNER, 20)).toMatchObject({ earlier: false })

    const begunAt = performance.now()
    services.batchWorker.start()
    expect(await place.until(id, isOver, 30_000)).toMatchObject({
      status: 'completed',
      completed: ITEMS,
      failed: 0,
      cost_nano: String(ITEMS * 20_000),
    })
    expect(performance.now() - begunAt).toBeLessThan(20_000)
    expect(blobs.failures).toBeGreaterThan(5)
    const results = await place.results(id)
    expect(results.map(({ line }) => line.custom_id)).toEqual(lines.map((_, item) => `r-${item}`))
    for (const { item, line } of results) {
      const content = isLong(item) ? `r-${item} ${LONG}` : `re r-${item}`
      expect(line.response).toMatchObject({ status_code: 200, body: { choices: [{ message: { content } }] } })
    }
    expect(place.asked).toHaveLength(ITEMS)
    expect(await place.query('SELECT FROM gateway_spend WHERE batch_id = $1', id)).toHaveLength(ITEMS)
    await expect
      .poll(async () => (await place.stored()).toSorted(), { timeout: 10_000 })
      .toEqual([`files/${input}`, `files/${outputFileId(id)}`].toSorted())
  })
})
