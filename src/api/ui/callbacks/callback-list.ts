import * as z from 'zod'
import { lazily } from '../../../lib/lazily.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'

const answer = lazily(() =>
  z.object({
    name: z.string(),
    queued: z.int().describe('Events that wait in the process that answers.'),
    delivered: z.int().describe('Events that the far end has taken since the process started; likewise below.'),
    failures: z.int().describe('Failed attempts.'),
    dropped: z.int().describe('Events that were given up.'),
    last_success_at: z.iso.datetime().nullable(),
    last_error_at: z.iso.datetime().nullable(),
    last_error: z.string().nullable(),
  }),
)

export const callbackList = defineRoute(
  {
    method: 'get',
    path: '/ui/api/callbacks',
    summary: 'The sinks that are switched on, and how delivery to them goes.',
    tag: 'Configuration',
    auth: 'admin',
    permission: 'config.read',
    responses: { 200: { description: 'The sinks.', schema: () => z.object({ data: z.array(answer()) }) } },
  },
  ({ services }) =>
    json({
      data: services.sinks.states().map(({ lastSuccessAt, lastErrorAt, lastError, ...counts }) => ({
        ...counts,
        last_success_at: lastSuccessAt ?? null,
        last_error_at: lastErrorAt ?? null,
        last_error: lastError ?? null,
      })),
    }),
)
