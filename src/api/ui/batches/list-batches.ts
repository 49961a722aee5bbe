import * as z from 'zod'
import { mistake } from '../../../config/accepted.ts'
import { reachOf } from '../../../identity/grants.ts'
import type { BatchPosition } from '../../../stores/sql/batches/administered-batches.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { storable } from '../../storable.ts'
import { BATCH_STATUSES } from '../../v1/batches/batch-object.ts'
import { moment } from '../moment.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'
import { listedAnswer, listedBatch } from './administered-batch.ts'

export const listBatches = defineRoute(
  {
    method: 'get',
    path: '/ui/api/batches',
    summary: 'The batches that the caller may see, newest first.',
    tag: 'Batches',
    auth: 'admin',
    permission: 'key.read',
    scoped: true,
    ofBatches: true,
    query: () =>
      z.object({
        ...paging(),
        status: z.enum(BATCH_STATUSES).optional(),
        team_id: storable().min(1).max(1024).optional(),
        key_id: storable().min(1).max(1024).optional(),
        endpoint: storable().min(1).max(128).optional(),
      }),
    responses: { 200: pageAnswer(listedBatch) },
  },
  async ({ services, caller, input }) => {
    const { cursor, limit, ...filters } = input.query
    const found = await services.records.administeredBatches.page({
      reach: reachOf(caller(), 'key.read'),
      filters,
      after: positionOf(cursor),
      limit: limit + 1,
    })
    const now = services.clock.now()
    const page = pageOf(found, limit, ({ created_at, batch_id }) => `${created_at}~${batch_id}`)
    return json({ ...page, data: page.data.map((batch) => listedAnswer(batch, now)) })
  },
)

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z)~(.+)$/

function positionOf(cursor: string): BatchPosition | undefined {
  if (cursor === '') return undefined
  const [, created_at, batch_id] = CURSOR.exec(cursor) ?? []
  if (created_at === undefined || batch_id === undefined || !moment().safeParse(created_at).success) {
    throw mistake('cursor', 'must be the next_cursor of the page before')
  }
  return { created_at, batch_id }
}
