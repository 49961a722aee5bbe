import * as z from 'zod'
import { lazily } from '../../../lib/lazily.ts'
import { dollarsOf } from '../../../lib/money.ts'
import { type BatchItem, ITEM_STATES } from '../../../stores/sql/batches/administered-batches.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'
import { batchOfRequest } from './administered-batch.ts'
import { batchParams } from './batch-params.ts'

const item = lazily(() =>
  z.object({
    item: z.int().describe('The number of the request, from 0.'),
    line: z.int().nullable().describe('Of the input file, from 1.'),
    custom_id: z.string().nullable(),
    state: z.enum(ITEM_STATES),
    status: z.int().nullable().describe('Of the answer.'),
    error: z.string().nullable(),
    tries: z.int().describe('Tries that had to be repeated.'),
    call_id: z.string().nullable(),
    input_tokens: z.int(),
    output_tokens: z.int(),
    cost: z.number().nullable().describe('US dollars; null: not known.'),
    claimed_at: z.iso.datetime(),
    ended_at: z.iso.datetime().nullable(),
  }),
)

export const listItems = defineRoute(
  {
    method: 'get',
    path: '/ui/api/batches/{batch_id}/items',
    summary: 'The requests of a batch that have begun, in the order of its input.',
    tag: 'Batches',
    auth: 'admin',
    permission: 'key.read',
    scoped: true,
    ofBatches: true,
    params: batchParams,
    query: () =>
      z.object({
        cursor: z.coerce
          .number()
          .int()
          .min(-1)
          .max(2_147_483_647)
          .default(-1)
          .describe('`next_cursor` of the page before.'),
        limit: paging().limit,
        state: z.enum(ITEM_STATES).optional(),
      }),
    responses: { 200: pageAnswer(item) },
  },
  async (scope) => {
    const { services, input } = scope
    const { cursor: after, limit, state } = input.query
    const { batch_id } = await batchOfRequest(scope, input.params.batch_id, 'key.read')
    const found = await services.records.administeredBatches.items(batch_id, { state, after, limit: limit + 1 })
    const page = pageOf(found, limit, (last) => String(last.item))
    return json({ ...page, data: page.data.map(itemAnswer) })
  },
)

function itemAnswer({ cost_nano, input_tokens, output_tokens, ...fields }: BatchItem) {
  return {
    ...fields,
    input_tokens: Number(input_tokens),
    output_tokens: Number(output_tokens),
    cost: cost_nano === null ? null : dollarsOf(cost_nano),
  }
}
