import { batchOwnerOf } from '../../../stores/sql/batches/batch-owner.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { fileAnswer, fileNotFound, fileObject, fileParams } from './file-answer.ts'

export const getFile = defineRoute(
  {
    method: 'get',
    path: '/v1/files/{file_id}',
    summary: 'One file.',
    tag: 'Batches',
    auth: 'caller',
    ofBatches: true,
    params: fileParams,
    responses: { 200: { description: 'The file.', schema: fileObject } },
  },
  async ({ services, caller, input }) => {
    const file = await services.files.find(input.params.file_id, batchOwnerOf(caller()))
    if (!file) throw fileNotFound()
    return json(fileAnswer(file))
  },
)
