import * as z from 'zod'
import { GatewayError } from '../../../lib/errors.ts'
import { describeError } from '../../../lib/log.ts'
import { defineRoute } from '../../route.ts'
import { attachment } from '../../v1/files/attachment.ts'
import { sendBlob } from '../../v1/files/send-blob.ts'
import { batchOfRequest } from './administered-batch.ts'
import { batchParams } from './batch-params.ts'

const FILES = { input: 'input_file_id', output: 'output_file_id', errors: 'error_file_id' } as const

export const getBatchFile = defineRoute(
  {
    method: 'get',
    path: '/ui/api/batches/{batch_id}/files/{file}',
    summary: 'The input, the output or the errors of a batch.',
    tag: 'Batches',
    auth: 'admin',
    permission: 'key.read',
    scoped: true,
    ofBatches: true,
    params: () => batchParams().extend({ file: z.enum(['input', 'output', 'errors']) }),
    responses: { 200: { description: 'The file.', contentType: 'application/jsonl' } },
  },
  async (scope) => {
    const { services, requestId, input } = scope
    const batch = await batchOfRequest(scope, input.params.batch_id, 'key.read')
    const fileId = batch[FILES[input.params.file]]
    const file = fileId === null ? undefined : await services.records.administeredBatches.file(fileId)
    const blob = file && (await services.files.content(file.file_id))
    if (!blob) {
      const message = `The batch has no file of that kind, or it was removed.`
      throw new GatewayError('not_found', message, { param: 'file', code: 'file_not_found' })
    }
    const failed = (error: unknown) =>
      services.log.warn('blobs.away', { requestId, file: file.file_id, error: describeError(error) })
    return {
      status: 200,
      headers: {
        'content-type': 'application/jsonl',
        'content-length': String(blob.size),
        'content-disposition': attachment(file.filename),
        'x-content-type-options': 'nosniff',
      },
      body: sendBlob(scope, blob.body, blob.size, failed),
    }
  },
)
