import * as z from 'zod'
import { mostFormBytes } from '../../../lib/forms/file-form.ts'
import type { Answer } from '../../../pipeline/answer.ts'
import type { Caller } from '../../../pipeline/caller.ts'
import { batchOwnerOf } from '../../../stores/sql/batches/batch-owner.ts'
import { refuseCompressed } from '../../middleware/refuse-compressed.ts'
import { MEDIA_TYPES, requireType } from '../../middleware/require-type.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import type { Scope } from '../../scope.ts'
import { fileAnswer, fileObject } from './file-answer.ts'

export const uploadBody = {
  contentType: MEDIA_TYPES.multipart,
  schema: () =>
    z.object({
      purpose: z.literal('batch'),
      file: z.file(),
      'expires_after[anchor]': z.literal('created_at').optional(),
      'expires_after[seconds]': z.int().min(3600).optional(),
    }),
}

export const createFile = defineRoute(
  {
    method: 'post',
    path: '/v1/files',
    summary: 'Upload the requests of a batch: a file with one of them, as JSON, in each line.',
    tag: 'Batches',
    auth: 'caller',
    ofBatches: true,
    action: 'file.create',
    body: uploadBody,
    responses: { 200: { description: 'The file.', schema: fileObject } },
  },
  (scope) => receiveUpload(scope, scope.caller()),
)

/** Stores the upload of a request as a file of `caller`, which may be a key that a person uses through the console. */
export async function receiveUpload({ services, client, header, audits }: Scope, caller: Caller): Promise<Answer> {
  const contentType = requireType(header('content-type'), 'multipart')
  refuseCompressed(header('content-encoding'))
  const owner = batchOwnerOf(caller)
  const source = client.upload(mostFormBytes(services.config.general_settings.batch_max_file_bytes))
  const receiving = services.files.receive({ owner, source, contentType })
  // Deferred: when the client leaves, what was stored of its upload is still removed.
  client.defer(receiving.catch(() => {}))
  const file = await receiving
  const { file_id: id, bytes } = file
  audits({ resource_id: id, organization_id: owner.organizationId, metadata: { bytes: Number(bytes) } })
  return json(fileAnswer(file))
}
