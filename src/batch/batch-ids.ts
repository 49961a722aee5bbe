import { newId, newTimedId } from '../lib/ids.ts'

export const newFileId = (): string => newId('file', '-')

export const newBatchId = (): string => newTimedId('batch')

const numberOf = (batchId: string) => batchId.slice('batch_'.length)

/** The files that a batch leaves. Their ids follow from the batch's, so that writing them again replaces them. */
export const outputFileId = (batchId: string): string => `file-${numberOf(batchId)}-output`
export const errorFileId = (batchId: string): string => `file-${numberOf(batchId)}-errors`

/** What a result line is known by. */
export const resultId = (batchId: string, item: number): string => `batch_req_${numberOf(batchId)}_${item}`

/** The call of one try. An item that runs again after its process died is the same call, for the ledger and for the
 *  settlement. */
export const callIdOf = (batchId: string, item: number, tries: number): string =>
  `call_${numberOf(batchId)}_${item}${tries === 0 ? '' : `_${tries}`}`

/** The blob of a file's content. */
export const contentKey = (fileId: string): string => `files/${fileId}`

/** The blob of a result that is too long for the database. */
export const resultKey = (batchId: string, item: number): string => `batches/${batchId}/results/${item}`
