import { GatewayError } from '../../../lib/errors.ts'
import { describeError } from '../../../lib/log.ts'
import { batchOwnerOf } from '../../../stores/sql/batches/batch-owner.ts'
import { defineRoute } from '../../route.ts'
import { askedRange } from './asked-range.ts'
import { attachment } from './attachment.ts'
import { fileNotFound, fileParams } from './file-answer.ts'
import { sendBlob } from './send-blob.ts'

export const getFileContent = defineRoute(
  {
    method: 'get',
    path: '/v1/files/{file_id}/content',
    summary: 'The content of a file, or a range of its bytes.',
    tag: 'Batches',
    auth: 'caller',
    ofBatches: true,
    params: fileParams,
    responses: {
      200: { description: 'The content.', contentType: 'application/jsonl' },
      206: { description: 'The bytes that the Range header asks for.', contentType: 'application/jsonl' },
    },
  },
  async ({ services, client, requestId, isHead, caller, header, input }) => {
    const file = await services.files.find(input.params.file_id, batchOwnerOf(caller()))
    if (!file) throw fileNotFound()
    const size = Number(file.bytes)
    // A range is of GET alone.
    const range = isHead ? 'whole' : askedRange(header('range'), size)
    if (range === undefined) throw outOfRange(size)
    const blob = await services.files.content(file.file_id, range === 'whole' ? undefined : range)
    // Removed since its row was read.
    if (!blob) throw fileNotFound()
    const { from, length } = range === 'whole' ? { from: 0, length: size } : range
    const failed = (error: unknown) =>
      services.log.warn('blobs.away', { requestId, file: file.file_id, error: describeError(error) })
    return {
      status: range === 'whole' ? 200 : 206,
      headers: {
        'content-type': 'application/jsonl',
        'content-length': String(length),
        ...(range === 'whole' ? {} : { 'content-range': `bytes ${from}-${from + length - 1}/${size}` }),
        'accept-ranges': 'bytes',
        'content-disposition': attachment(file.filename),
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      },
      body: sendBlob({ client, isHead }, blob.body, length, failed),
    }
  },
)

function outOfRange(size: number): GatewayError {
  const headers = { 'content-range': `bytes */${size}` }
  const details = { status: 416, code: 'range_not_satisfiable', headers }
  return new GatewayError('invalid_request', `The file has ${size} bytes, none of them in this range.`, details)
}
