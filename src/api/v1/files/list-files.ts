import * as z from 'zod'
import { GatewayError } from '../../../lib/errors.ts'
import { batchOwnerOf } from '../../../stores/sql/batches/batch-owner.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { openaiList, openaiPage } from '../openai-list.ts'
import { fileAnswer, fileObject } from './file-answer.ts'

const MOST = 10_000

export const listFiles = defineRoute(
  {
    method: 'get',
    path: '/v1/files',
    summary: "The caller's files and those of its team.",
    tag: 'Batches',
    auth: 'caller',
    ofBatches: true,
    query: () =>
      z.object({
        purpose: z.enum(['batch', 'batch_output']).optional(),
        limit: z.coerce.number().int().min(1).max(MOST).default(MOST),
        after: z.string().optional().describe('The id of the last file of the page before.'),
        order: z.enum(['asc', 'desc']).default('desc').describe('By the time of creation.'),
      }),
    responses: {
      200: {
        description: 'One page.',
        schema: () => openaiList(fileObject),
      },
    },
  },
  async ({ services, caller, input: { query } }) => {
    const after = query.after === '' ? undefined : query.after
    const rows = await services.files.page(batchOwnerOf(caller()), { ...query, after })
    if (!rows) throw new GatewayError('invalid_request', "There is no file that 'after' names.", { param: 'after' })
    return json(openaiPage(rows.map(fileAnswer), query.limit))
  },
)
