import type { Config } from '../../config/schema.ts'
import { type FileForm, fileForm } from '../../lib/forms/file-form.ts'
import { MalformedForm } from '../../lib/forms/multipart.ts'
import type { Source } from '../../lib/forms/spool.ts'
import { describeError, type Log } from '../../lib/log.ts'
import { unsent } from '../../pipeline/client.ts'
import { asFormFailure } from '../../pipeline/request/incoming-form.ts'
import type { Blobs } from '../../stores/blobs/blobs.ts'
import type { BatchOwner } from '../../stores/sql/batches/batch-owner.ts'
import type { FileContent, FileRecord, FileRecords } from '../../stores/sql/batches/file-records.ts'
import { storableText } from '../../stores/sql/storable-text.ts'
import { contentKey, newFileId } from '../batch-ids.ts'
import { blobsUnavailable } from './blobs-unavailable.ts'
import { contentCheck } from './content-check.ts'
import { missingPurpose, uploadFields } from './upload-fields.ts'

export interface FileServices {
  readonly records: FileRecords
  readonly blobs: Blobs
  readonly settings: Pick<
    Config['general_settings'],
    'batch_max_file_bytes' | 'batch_max_line_bytes' | 'file_retention_days'
  >
  readonly log: Log
}

export interface ArrivingFile {
  readonly owner: BatchOwner
  readonly source: Source
  /** The media type of the form, with its boundary. */
  readonly contentType: string
}

const CONTENT_TYPE = 'application/jsonl'

/** Stores a file while its form arrives: first its row, then the content, then the row's state `ready`. A failed upload
 *  leaves nothing. */
export async function receiveFile(services: FileServices, { owner, source, contentType }: ArrivingFile) {
  try {
    const form = fileForm(source, contentType, 'file')
    const { filename } = await form.file()
    const name = storableText(filename)
    if (name === null) throw new MalformedForm('its file has no name')
    const { retentionSeconds } = uploadFields(form.fields(), services.settings.file_retention_days)
    const fileId = newFileId()
    await services.records.create({ fileId, owner, filename: name, retentionSeconds })
    try {
      return await store(services, fileId, form)
    } catch (error) {
      await discard(services, fileId)
      throw error
    }
  } catch (error) {
    throw asFormFailure(error) ?? error
  } finally {
    source.close()
  }
}

async function store({ records, blobs, settings }: FileServices, fileId: string, form: FileForm): Promise<FileRecord> {
  const { batch_max_file_bytes: fileBytes, batch_max_line_bytes: lineBytes, file_retention_days: days } = settings
  const check = contentCheck({ fileBytes, lineBytes })
  let read: { readonly content: FileContent; readonly retentionSeconds: number } | undefined
  let refused: { readonly error: unknown } | undefined
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = await form.read()
          if (piece) {
            check.push(piece)
            return controller.enqueue(piece)
          }
          // The content becomes a blob only when the form was read to its end and everything in it is right.
          const content = check.end()
          await form.end()
          const { purpose, retentionSeconds } = uploadFields(form.fields(), days)
          if (purpose === undefined) throw missingPurpose()
          read = { content, retentionSeconds }
          controller.close()
        } catch (error) {
          refused = { error }
          controller.error(error)
        }
      },
    },
    { highWaterMark: 0 },
  )
  try {
    await blobs.put(contentKey(fileId), body, CONTENT_TYPE)
  } catch (error) {
    throw refused ? refused.error : blobsUnavailable(error)
  }
  if (!read) throw blobsUnavailable(new Error('the storage did not read the whole file'))
  const record = await records.ready(fileId, read.content, read.retentionSeconds)
  // It took so long that it counted as given up.
  if (!record) throw unsent()
  return record
}

/** Removes a failed upload. The sweep removes what cannot be removed now. */
async function discard({ records, blobs, log }: FileServices, fileId: string): Promise<void> {
  try {
    // The file may be ready although the database did not answer: then it stays until it expires.
    if (!(await records.giveUp(fileId))) return
    await blobs.remove(contentKey(fileId))
    await records.forget([fileId])
  } catch (error) {
    log.warn('file.left_over', { file: fileId, error: describeError(error) })
  }
}
