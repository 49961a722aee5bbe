import * as z from 'zod'
import type { FallbackEvent } from '../../telemetry/events.ts'
import { json } from '../respond.ts'
import { defineRoute } from '../route.ts'

const fallbackEvent = z.object({
  timestamp: z.iso.datetime(),
  source_model: z.string(),
  target_model: z.string(),
  error_classification: z.string(),
  success: z.boolean(),
})

export const fallbackEvents = defineRoute(
  {
    method: 'get',
    path: '/health/fallback-events',
    summary: 'The newest calls that were retried or failed over, newest first.',
    tag: 'Health',
    auth: 'caller',
    query: z.object({
      limit: z.coerce.number().int().min(1).max(1000).default(50).describe('How many, at most 1,000.'),
    }),
    responses: { 200: { description: 'The events.', schema: z.object({ events: z.array(fallbackEvent) }) } },
  },
  async ({ services, input }) => {
    const entries = await services.store.entries('fallback-events', input.query.limit)
    return json({ events: entries.map((entry) => JSON.parse(entry) as FallbackEvent) })
  },
)
