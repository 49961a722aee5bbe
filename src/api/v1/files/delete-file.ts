import * as z from 'zod'
import { GatewayError } from '../../../lib/errors.ts'
import { batchOwnerOf } from '../../../stores/sql/batches/batch-owner.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { fileNotFound, fileParams } from './file-answer.ts'

export const deleteFile = defineRoute(
  {
    method: 'delete',
    path: '/v1/files/{file_id}',
    summary: 'Delete a file that no unfinished batch reads.',
    tag: 'Batches',
    auth: 'caller',
    ofBatches: true,
    action: 'file.delete',
    params: fileParams,
    responses: {
      200: {
        description: 'It is deleted.',
        schema: () => z.object({ id: z.string(), object: z.literal('file'), deleted: z.literal(true) }),
      },
    },
  },
  async ({ services, caller, input, audits }) => {
    const { file_id: id } = input.params
    const owner = batchOwnerOf(caller())
    audits({ organization_id: owner.organizationId })
    const outcome = await services.files.remove(id, owner)
    if (outcome === 'absent') throw fileNotFound()
    if (outcome === 'in_use') {
      const message = 'A batch that has not ended reads this file. Cancel the batch, or wait for its end.'
      throw new GatewayError('conflict', message, { param: 'file_id', code: 'file_in_use' })
    }
    return json({ id, object: 'file', deleted: true })
  },
)
