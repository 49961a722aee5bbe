import * as z from 'zod'
import { lazily } from '../../../lib/lazily.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'
import { cursorOf, letterCursor } from './letter-cursor.ts'
import { lettersWithin } from './letters-within.ts'

const answer = lazily(() =>
  z.object({
    letter_id: z.string(),
    topic: z.string().describe('ledger, ledger_sums or audit.'),
    died_at: z.iso.datetime(),
    error: z.string().describe('Why the database refused it, the last time.'),
    record: z.record(z.string(), z.unknown()).describe('What would have been written: no content and no credential.'),
  }),
)

export const deadLetterList = defineRoute(
  {
    method: 'get',
    path: '/ui/api/dead-letters',
    summary: 'Records of calls and audit events that the database refused, oldest first.',
    tag: 'Audit',
    auth: 'admin',
    permission: 'audit.read',
    query: () => z.object({ cursor: letterCursor(), limit: paging().limit, ...lettersWithin() }),
    responses: { 200: pageAnswer(answer) },
  },
  async ({ services, input: { query } }) => {
    const { cursor = '', limit, topic, died_before: diedBefore } = query
    const found = await services.records.deadLetters.page({ cursor, limit: limit + 1, within: { topic, diedBefore } })
    const { data, next_cursor } = pageOf(found, query.limit, cursorOf)
    return json({ data: data.map(({ body, ...letter }) => ({ ...letter, record: body })), next_cursor })
  },
)
