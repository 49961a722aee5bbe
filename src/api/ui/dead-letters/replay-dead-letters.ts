import * as z from 'zod'
import { GatewayError } from '../../../lib/errors.ts'
import { replayed } from '../../../telemetry/delivery/replay.ts'
import { topics } from '../../../telemetry/topics.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { isStorable } from '../../storable.ts'
import { pageOf } from '../page.ts'
import { cursorOf, letterCursor } from './letter-cursor.ts'

/** Each record is written on its own: few enough for one event of Workers. */
const MOST_LETTERS = 100

export const replayDeadLetters = defineRoute(
  {
    method: 'post',
    path: '/ui/api/dead-letters/replay',
    summary: 'Writes refused records after all: those of the given ids, or a page of all, oldest first.',
    tag: 'Audit',
    auth: 'admin',
    permission: 'config.update',
    action: 'dead_letter.replay',
    json: () =>
      z.strictObject({
        ids: z.array(z.string().max(64)).min(1).max(MOST_LETTERS).optional(),
        cursor: letterCursor(),
        limit: z.int().min(1).max(MOST_LETTERS).optional().describe('50 where it is left out.'),
      }),
    responses: {
      200: {
        description: 'What became of them. A record that is refused again stays; `next_cursor` goes on after it.',
        schema: () =>
          z.object({
            replayed: z.int().describe('Records that are written now.'),
            refused: z.array(z.object({ letter_id: z.string(), error: z.string() })),
            next_cursor: z.string().nullable(),
          }),
      },
    },
  },
  async ({ services, input, audits }) => {
    const { ids, cursor = '', limit = 50 } = input.json
    const records = services.records.deadLetters
    const found = ids ? await records.withIds(ids.filter(isStorable)) : await records.page({ cursor, limit: limit + 1 })
    const known = new Set(found.map(({ letter_id }) => letter_id))
    const unknown = ids?.find((id) => !known.has(id))
    if (unknown !== undefined) throw new GatewayError('not_found', `There is no dead letter '${unknown}'.`)
    const { data, next_cursor } = pageOf(found, ids ? found.length : limit, cursorOf)
    const outcomes = await replayed(data, { sql: services.sql, records, topics })
    const refused = outcomes.flatMap(({ letter_id, error }) => (error === undefined ? [] : [{ letter_id, error }]))
    const count = outcomes.length - refused.length
    audits({
      metadata: { letter_ids: outcomes.map(({ letter_id }) => letter_id), replayed: count, refused: refused.length },
    })
    return json({ replayed: count, refused, next_cursor })
  },
)
