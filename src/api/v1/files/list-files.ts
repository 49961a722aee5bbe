import * as z from 'zod'
import { GatewayError } from '../../../lib/errors.ts'
import { ownerOf } from '../../../stores/sql/batches/owner.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
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
        schema: () =>
          z.object({
            object: z.literal('list'),
            data: z.array(fileObject()),
            first_id: z.string().nullable(),
            last_id: z.string().nullable(),
            has_more: z.boolean(),
          }),
      },
    },
  },
  async ({ services, caller, input: { query } }) => {
    const rows = await services.files.page(ownerOf(caller()), query)
    if (!rows) throw new GatewayError('invalid_request', "There is no file of the id 'after'.", { param: 'after' })
    const data = rows.slice(0, query.limit).map(fileAnswer)
    return json({
      object: 'list',
      data,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: rows.length > query.limit,
    })
  },
)
