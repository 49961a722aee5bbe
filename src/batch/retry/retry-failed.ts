import type { Config } from '../../config/schema.ts'
import { GatewayError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { describeError } from '../../lib/log.ts'
import type { Blobs } from '../../stores/blobs/blobs.ts'
import type { AdministeredBatches } from '../../stores/sql/batches/administered-batches.ts'
import type { BatchOwner } from '../../stores/sql/batches/batch-owner.ts'
import type { BatchRecord, BatchRecords, Creation } from '../../stores/sql/batches/batch-records.ts'
import type { FileContent, FileRecords } from '../../stores/sql/batches/file-records.ts'
import { contentKey, newBatchId, newFileId } from '../batch-ids.ts'
import { contentCheck } from '../files/content-check.ts'
import { linesOf } from '../lines.ts'
import { failedLines } from './failed-lines.ts'

const DAY_SECONDS = 86_400

export interface RetryServices {
  readonly config: Config
  readonly records: {
    readonly batches: BatchRecords
    readonly administeredBatches: AdministeredBatches
    readonly files: FileRecords
  }
  readonly blobs: Blobs
  readonly log: Log
}

/** Makes a batch of the requests of an ended one that were not answered well, for the same owner and key: one, so that
 *  nothing is paid twice. Nothing is left of one that cannot be made. */
export async function retryFailed(services: RetryServices, batch: BatchRecord): Promise<Creation> {
  const { records, config, blobs } = services
  const { file_retention_days: days, batch_max_active: mostActive } = config.general_settings
  const owner: BatchOwner = {
    keyId: batch.key_id,
    teamId: batch.team_id,
    organizationId: batch.organization_id,
    userId: batch.user_id,
  }
  const input = await blobs.get(contentKey(batch.input_file_id))
  if (!input) {
    const message = 'The input file of the batch was removed or has expired.'
    throw new GatewayError('not_found', message, { param: 'input_file_id', code: 'file_not_found' })
  }
  const fileId = newFileId()
  const retentionSeconds = days * DAY_SECONDS
  await records.files.create({ fileId, owner, filename: `${batch.batch_id}_failed.jsonl`, retentionSeconds })
  try {
    const content = await copyFailed(services, batch, input.body, fileId)
    if (!(await records.files.ready(fileId, content, retentionSeconds))) throw new Error('the file was given up')
    const { endpoint, metadata, output_seconds, batch_id: retry_of } = batch
    const fresh = { batch_id: newBatchId(), endpoint, metadata, output_seconds, input_file_id: fileId, retry_of }
    const creation = await records.batches.create(
      { ...fresh, idempotency_key: null, request_hash: null },
      owner,
      mostActive,
    )
    if (!('batch' in creation)) await discard(services, fileId, owner)
    return creation
  } catch (error) {
    await discard(services, fileId, owner)
    throw error
  }
}

async function copyFailed(
  { records, blobs, config }: RetryServices,
  { batch_id: id }: BatchRecord,
  input: ReadableStream<Uint8Array>,
  fileId: string,
): Promise<FileContent> {
  const { batch_max_file_bytes: fileBytes, batch_max_line_bytes: lineBytes } = config.general_settings
  const check = contentCheck({ fileBytes, lineBytes })
  const failed = failedLines(linesOf(input, Number.POSITIVE_INFINITY), (after, limit) =>
    records.administeredBatches.answered(id, after, limit),
  )
  let content: FileContent | undefined
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value } = await failed.next()
        if (value) {
          for (const piece of [value, NEWLINE]) {
            check.push(piece)
            controller.enqueue(piece)
          }
          return
        }
        content = check.end()
        controller.close()
      },
      async cancel() {
        await failed.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
  try {
    await blobs.put(contentKey(fileId), body, 'application/jsonl')
  } finally {
    await failed.return(undefined)
  }
  if (!content) throw new Error('the storage did not read the whole file')
  return content
}

const NEWLINE = Uint8Array.of(0x0a)

/** What cannot be removed now is removed when it has expired, or by the sweep. */
async function discard({ records, blobs, log }: RetryServices, fileId: string, owner: BatchOwner): Promise<void> {
  try {
    const isGone = (await records.files.giveUp(fileId)) || (await records.files.takeAway(fileId, owner)) === 'taken'
    if (!isGone) return
    await blobs.remove(contentKey(fileId))
    await records.files.forget([fileId])
  } catch (error) {
    log.warn('file.left_over', { file: fileId, error: describeError(error) })
  }
}
