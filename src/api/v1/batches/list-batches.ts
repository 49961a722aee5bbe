import * as z from 'zod'
import { batchOwnerOf } from '../../../stores/sql/batches/batch-owner.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { storable } from '../../storable.ts'
import { openaiList, openaiPage } from '../openai-list.ts'
import { batchAnswer, batchObject } from './batch-object.ts'
import { noSuchBatch } from './no-such-batch.ts'

export const listBatches = defineRoute(
  {
    method: 'get',
    path: '/v1/batches',
    summary: 'The batches of the caller and of its team, newest first.',
    tag: 'Batches',
    auth: 'caller',
    ofBatches: true,
    query: () =>
      z.object({
        limit: z.coerce.number().int().min(1).max(100).default(20),
        after: storable().max(128).optional().describe('The id of the last batch of the page before.'),
      }),
    responses: {
      200: {
        description: 'One page.',
        schema: () => openaiList(batchObject),
      },
    },
  },
  async ({ services, caller, input: { query } }) => {
    const { limit } = query
    const after = query.after === '' ? undefined : query.after
    const found = await services.records.batches.page(batchOwnerOf(caller()), { after, limit: limit + 1 })
    if (!found) throw noSuchBatch('after')
    return json(openaiPage(found.map(batchAnswer), limit))
  },
)
