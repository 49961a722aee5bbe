import { describeError } from '../../lib/log.ts'
import type { Blob, BlobRange } from '../../stores/blobs/blobs.ts'
import type { BatchOwner } from '../../stores/sql/batches/batch-owner.ts'
import type { FilePage, FileRecord } from '../../stores/sql/batches/file-records.ts'
import { contentKey } from '../batch-ids.ts'
import { blobsUnavailable } from './blobs-unavailable.ts'
import { type ArrivingFile, type FileServices, receiveFile } from './receive-file.ts'

/** The files of batches: their rows in the database and their content in the blob store. */
export interface BatchFiles {
  /** Stores a file while it arrives. */
  receive(file: ArrivingFile): Promise<FileRecord>
  find(fileId: string, owner: BatchOwner): Promise<FileRecord | undefined>
  /** One more than the limit, where there are more. undefined: there is no file `after`. */
  page(owner: BatchOwner, page: FilePage): Promise<FileRecord[] | undefined>
  /** The content of a file, or a part of it; undefined if it was just removed. */
  content(fileId: string, range?: BlobRange): Promise<Blob | undefined>
  /** `in_use`: an unfinished batch reads it. */
  remove(fileId: string, owner: BatchOwner): Promise<'removed' | 'in_use' | 'absent'>
  /** Removes files that have expired, and what uploads and removals left that did not end. */
  sweep(signal: AbortSignal): Promise<void>
}

const SWEPT_AT_ONCE = 50
const MOST_SWEEPS = 10

const FILE_ID = /^file-[a-z0-9-]{1,64}$/

export function batchFiles(services: FileServices): BatchFiles {
  const { records, blobs, log } = services

  /** Removes what was taken away, content first, so that no content is without a row. */
  async function clear(fileIds: readonly string[]): Promise<void> {
    const removed: string[] = []
    try {
      for (const fileId of fileIds) {
        await blobs.remove(contentKey(fileId))
        removed.push(fileId)
      }
    } finally {
      if (removed.length > 0) await records.forget(removed)
    }
  }

  return {
    receive: (file) => receiveFile(services, file),
    async find(fileId, owner) {
      return FILE_ID.test(fileId) ? records.find(fileId, owner) : undefined
    },
    async page(owner, page) {
      return page.after === undefined || FILE_ID.test(page.after) ? records.page(owner, page) : undefined
    },
    async content(fileId, range) {
      try {
        return await blobs.get(contentKey(fileId), range)
      } catch (error) {
        throw blobsUnavailable(error)
      }
    },
    async remove(fileId, owner) {
      const outcome = FILE_ID.test(fileId) ? await records.takeAway(fileId, owner) : 'absent'
      if (outcome !== 'taken') return outcome
      try {
        await clear([fileId])
      } catch (error) {
        // It is gone for everyone; the sweep removes the rest.
        log.warn('file.left_over', { file: fileId, error: describeError(error) })
      }
      return 'removed'
    },
    async sweep(signal) {
      for (let sweeps = 0; sweeps < MOST_SWEEPS && !signal.aborted; sweeps++) {
        const fileIds = await records.takeExpired(SWEPT_AT_ONCE)
        await clear(fileIds)
        if (fileIds.length < SWEPT_AT_ONCE) return
      }
    },
  }
}
