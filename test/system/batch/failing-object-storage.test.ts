import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { contentKey, outputFileId } from '../../../src/batch/batch-ids.ts'
import { secret } from '../../../src/lib/secret.ts'
import type { Blobs } from '../../../src/stores/blobs/blobs.ts'
import { s3Blobs } from '../../../src/stores/blobs/s3.ts'
import { type BatchPlace, isOver, startBatchPlace } from '../../support/batch-workers.node.ts'
import { type S3Endpoint, s3Endpoint } from '../../support/s3.ts'

const postgresUrl = inject('postgresUrl')
const ACCOUNT = { bucket: 'files', region: 'eu', accessKeyId: 'AKIATEST' }
const ITEMS = 45
/** Too long for the database, and together more than two parts of an upload. */
const CONTENT = 'x'.repeat(400_000)

describe.skipIf(!postgresUrl)('an object storage that fails while the results are written', () => {
  let place: BatchPlace
  let storage: S3Endpoint
  let blobs: Blobs
  beforeEach(async () => {
    place = await startBatchPlace(postgresUrl)
    storage = s3Endpoint({ ...ACCOUNT, secretAccessKey: 'there' })
    blobs = s3Blobs({
      ...ACCOUNT,
      endpoint: 'https://objects.test',
      secretAccessKey: secret('there'),
      fetch: (url, init) => storage.fetch(new Request(url, init)),
    })
  })
  afterEach(() => place?.close())

  it.each([
    ['a part', ['PUT part', 'PUT part', 'PUT part']],
    ['the end of the upload', ['POST complete']],
    ['a long result', ['GET object', 'GET object', 'GET object']],
  ] as const)('has them whole, once, with nothing left over: %s', { timeout: 60_000 }, async (_, failing) => {
    const id = await place.batch({ id: 'batch_objects', requests: ITEMS })
    const input = await place.blobs.get(contentKey(`file-${id}`))
    await blobs.put(contentKey(`file-${id}`), new Uint8Array(await new Response(input?.body).arrayBuffer()), 'text')
    const services = place.services({ blobs })
    // The last request holds the batch until the failures stand ready.
    const last = Promise.withResolvers<void>()
    place.provider = async (text) => {
      if (text.endsWith(`-${ITEMS - 1}`)) await last.promise
      return { content: `${text} ${CONTENT}` }
    }
    services.batchWorker.start()
    await place.until(id, ({ completed }) => completed === ITEMS - 1, 30_000)
    for (const operation of failing) storage.failNext(operation, { status: 503, code: 'SlowDown' })
    last.resolve()

    expect(await place.until(id, isOver, 30_000)).toMatchObject({ status: 'completed', completed: ITEMS, failed: 0 })
    const output = await blobs.get(contentKey(outputFileId(id)))
    const lines = (await new Response(output?.body).text()).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).custom_id)).toEqual(
      Array.from({ length: ITEMS }, (_, item) => `${id}-${item}`),
    )
    expect(storage.operations.filter((one) => one === 'PUT part').length).toBeGreaterThanOrEqual(3)
    expect(storage.openUploads()).toBe(0)
    await expect
      .poll(() => storage.stored().toSorted(), { timeout: 10_000 })
      .toEqual([`file-${id}`, outputFileId(id)].map(contentKey).toSorted())
    expect(place.asked).toHaveLength(ITEMS)
    expect(await place.query('SELECT FROM gateway_spend WHERE batch_id = $1', id)).toHaveLength(ITEMS)
  })
})
