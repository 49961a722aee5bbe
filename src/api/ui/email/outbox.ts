import * as z from 'zod'
import { lazily } from '../../../lib/lazily.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'

const STATES = ['queued', 'sent', 'failed'] as const

const answer = lazily(() =>
  z.object({
    email_id: z.string(),
    kind: z.enum(['invitation', 'password_reset']),
    recipient: z.string(),
    state: z.enum(STATES).describe('failed: no further attempts.'),
    attempts: z.int(),
    due_at: z.iso.datetime().describe('The time of the next attempt while it is queued.'),
    last_error: z.string().nullable().describe('Why the last attempt failed.'),
    organization_id: z.string().nullable(),
    created_at: z.iso.datetime(),
    sent_at: z.iso.datetime().nullable(),
  }),
)

export const outboxList = defineRoute(
  {
    method: 'get',
    path: '/ui/api/email/outbox',
    summary: 'E-mails of the last thirty days and their states, newest first, without their content.',
    tag: 'Accounts',
    auth: 'admin',
    permission: 'platform.admin',
    query: () => z.object({ state: z.enum(STATES).optional(), ...paging() }),
    responses: { 200: pageAnswer(answer) },
  },
  async ({ services, input: { query } }) => {
    const { state, cursor, limit } = query
    const rows = await services.records.emails.page({ state, cursor, limit: limit + 1 })
    return json(pageOf(rows, limit, ({ email_id }) => email_id))
  },
)
